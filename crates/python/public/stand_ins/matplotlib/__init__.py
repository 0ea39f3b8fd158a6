"""A stand-in for `matplotlib` that draws nothing."""


class Nothing:
    """Every attribute and every call gives this object again; unpacking gives two of it."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args, **kwargs):
        return self

    def __getitem__(self, key):
        return self

    def __setitem__(self, key, value):
        pass

    def __iter__(self):
        return iter([self, self])


def use(*args, **kwargs):
    """Chooses no back end."""
