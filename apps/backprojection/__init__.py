"""Images of spotlight synthetic aperture radar by backprojection of range-compressed pulses."""
