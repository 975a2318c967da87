"""Embedders: models behind the port of vectors, each in a file that imports it where it is used."""
