"""The version of the library that this package is written for."""

VERSION = "0.1.0"
