"""The context that importing this module makes, and its device."""

from rtcg._native import Context, Device

context: Context
device: Device
