"""The primary context that importing this module retains, and its device."""

from pycuda._rtcg import Context, Device

context: Context
device: Device
