from pycuda._rtcg import Context, Device

context: Context
device: Device
