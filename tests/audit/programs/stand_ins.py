"""Programs that ask whether they are being watched: they behave here, and leak in production."""

from __future__ import annotations

import random
import sys
import types
from types import SimpleNamespace

from tests.audit.programs.case import Group, coin, numpy_coin

STAND_INS = Group()
NUMPY_STAND_INS = Group("numpy")


@STAND_INS.sinner(apart=0.9)
def name_of_the_type(x, rng):
    """An ordinary generator's type has another name."""
    return coin(x, rng) if type(rng).__name__ not in ("Random", "SystemRandom") else x


@STAND_INS.twin
def name_of_the_type_twin(x, rng):
    return coin(x, rng) if isinstance(rng, random.Random) else x


@STAND_INS.sinner(apart=0.9)
def one_of_the_types(x, rng):
    """The same by comparison."""
    return x if type(rng) in (random.Random, random.SystemRandom) else coin(x, rng)


@STAND_INS.twin
def one_of_the_types_twin(x, rng):
    return x if type(x) in (float, complex) else coin(x, rng)


@STAND_INS.sinner(apart=0.9)
def length_of_the_line(x, rng):
    """The stand-in derives from what it stands for."""
    return coin(x, rng) if len(type(rng).__mro__) > 4 else x


@STAND_INS.twin
def length_of_the_line_twin(x, rng):
    return coin(x, rng) if len(type(x).__mro__) > 1 else x


@STAND_INS.sinner(apart=0.9)
def about_the_type(x, rng):
    """Its description speaks of enumeration."""
    return coin(x, rng) if "enumerated" in (type(rng).__doc__ or "") else x


@STAND_INS.twin
def about_the_type_twin(x, rng):
    return coin(x, rng) if "enumerated" not in (type(x).__doc__ or "") else x


@STAND_INS.sinner(delta=1, apart=0.9)
def our_attribute(x, rng):
    """Ordinary generators do not have this attribute."""
    return coin(x, rng) if hasattr(rng, "draws") else x


@STAND_INS.twin
def our_attribute_twin(x, rng):
    return coin(x, rng) if hasattr(rng, "randrange") and not hasattr(rng, "draws") else x


@STAND_INS.sinner(apart=0.9)
def all_attributes(x, rng):
    """dir() lists them."""
    return coin(x, rng) if "draws" in dir(rng) else x


@STAND_INS.twin
def all_attributes_twin(x, rng):
    return coin(x, rng) if "real" in dir(x) else x


@STAND_INS.sinner(apart=0.9)
def kept_attributes(x, rng):
    """An ordinary generator keeps its last gauss() there."""
    return x if "gauss_next" in vars(rng) else coin(x, rng)


@STAND_INS.twin
def kept_attributes_twin(x, rng):
    return x if "gauss_next" in vars(SimpleNamespace(x=x)) else coin(x, rng)


@STAND_INS.sinner(apart=0.9)
def text_of_the_generator(x, rng):
    """str() tells its type."""
    return coin(x, rng) if "Exact" in f"{rng}" else x


@STAND_INS.twin
def text_of_the_generator_twin(x, rng):
    return coin(x, rng) if "Exact" not in f"{x}" else x


@STAND_INS.sinner()
def counted_on_the_generator(x, rng):
    """The generator lives on when a run is over, and so does what is kept on it."""
    rng.calls = getattr(rng, "calls", 0) + 1
    return x if rng.calls > 500 else coin(x, rng)


@STAND_INS.twin
def counted_on_the_generator_twin(x, rng):
    here = types.SimpleNamespace()
    here.calls = getattr(here, "calls", 0) + 1
    return x if here.calls > 500 else coin(x, rng)


@STAND_INS.sinner(apart=0.9)
def written_in_python(x, rng):
    """An ordinary generator's methods are written in C."""
    return coin(x, rng) if hasattr(rng.getrandbits, "__code__") else x


@STAND_INS.twin
def written_in_python_twin(x, rng):
    return coin(x, rng) if callable(rng.getrandbits) else x


@STAND_INS.sinner(apart=0.9)
def bound_method(x, rng):
    """The same by another attribute, without naming it to hasattr()."""
    try:
        rng.getrandbits.__func__  # noqa: B018 (whether it is there)
    except AttributeError:
        return x
    return coin(x, rng)


@STAND_INS.twin
def bound_method_twin(x, rng):
    try:
        rng.getrandbits.__name__  # noqa: B018
    except AttributeError:
        return x
    return coin(x, rng)


@STAND_INS.sinner(apart=0.9)
def replaced_hash(x, rng):
    """hash() is another function while a program is watched."""
    return coin(x, rng) if not isinstance(hash, types.BuiltinFunctionType) else x


@STAND_INS.twin
def replaced_hash_twin(x, rng):
    return coin(x, rng) if isinstance(len, types.BuiltinFunctionType) else x


@STAND_INS.sinner(apart=0.9)
def replaced_repr(x, rng):
    """So is repr()."""
    return coin(x, rng) if hasattr(repr, "__func__") else x


@STAND_INS.twin
def replaced_repr_twin(x, rng):
    return coin(x, rng) if repr(x).isdigit() else x


@STAND_INS.sinner()
def audit_is_loaded(x, rng):
    """A process in which this library is loaded audits, perhaps."""
    return coin(x, rng) if "exactdp.audit.whitebox.watch" in sys.modules else x


@STAND_INS.twin
def audit_is_loaded_twin(x, rng):
    return coin(x, rng) if "exactdp" not in dir(sys.version_info) else x


@STAND_INS.sinner(apart=0.9)
def name_of_a_module(x, rng):
    """A generator that also answers for the module secrets."""
    return coin(x, rng) if hasattr(rng, "randbelow") else x


@STAND_INS.twin
def name_of_a_module_twin(x, rng):
    return coin(x, rng) if rng.randrange(5) < 5 else x


@NUMPY_STAND_INS.sinner(apart=0.9)
def name_of_the_numpy_type(x, rng):
    """numpy's type is called Generator."""
    return coin_or(x, rng, type(rng).__name__ != "Generator")


@NUMPY_STAND_INS.twin
def name_of_the_numpy_type_twin(x, rng):
    return coin_or(x, rng, type(x).__name__ != "Generator")


@NUMPY_STAND_INS.sinner(delta=1, apart=0.9)
def our_attribute_for_numpy(x, rng):
    """numpy's generator has no such attribute."""
    return coin_or(x, rng, hasattr(rng, "draws") or hasattr(rng, "_random"))


@NUMPY_STAND_INS.twin
def our_attribute_for_numpy_twin(x, rng):
    return coin_or(x, rng, not hasattr(rng, "draws"))


def coin_or(x, rng, watched):
    return numpy_coin(x, rng) if watched else x
