"""Constants of the error bounds of arithmetic in doubles, rounded to nearest."""

#: Half the distance from 1 to the next double: the relative error of one operation.
UNIT = 2.0**-53

#: Factor for a sum of products of doubles >= 0, rounded after each operation. Of 2^32 operations
#: each changes the result by a factor of at most 1 + UNIT, and (1 + 2^-53)^(2^32) < 1 + 2^-20.
ROUNDED_UP = 1 + 2.0**-20

#: A product that underflows loses at most 2^-1075, so 2^32 of them lose less than this.
UNDERFLOW = 2.0**-1040
