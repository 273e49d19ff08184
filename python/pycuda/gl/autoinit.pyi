"""The context that importing this module makes, and its device."""

from pycuda._rtcg import Context, Device

context: Context
device: Device
