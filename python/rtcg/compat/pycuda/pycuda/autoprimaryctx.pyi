"""The primary context that importing this module retains, and its device."""

from rtcg._native import Context, Device

context: Context
device: Device
