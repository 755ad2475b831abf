"""Which language a short text is in, told by its little words and its script."""

from collections.abc import Sequence

from hermes.ranking.lexicon import bag

_LITTLE = {
    "en": bag("the of and to is in for on are with how it at from by that you was or be your what why"),
    "de": bag("der die das und ist von zu mit den im fur auf ein eine nicht sich dem bei wie auch"),
    "fr": bag("le la les des et est de du dans pour une sur au aux sont avec qui que pas par"),
    "es": bag("el la los las de y es en para una por con que del al son como su se lo"),
    "it": bag("il la gli di e che per una del della con nel alla sono come non si da le"),
    "pt": bag("o os as de e para uma por com que do da no na sao como nao em ao"),
    "nl": bag("de het een en van is op te voor met zijn dat niet bij aan ook er hoe naar door"),
}
_LEAST = 2
_LAST_LATIN = "\u024f"


def language(words: Sequence[str]) -> str:
    """A code of two letters, or empty where the words, which are folded, do not tell clearly."""
    counts = sorted(
        ((sum(word in little for word in words), code) for code, little in _LITTLE.items()), reverse=True
    )
    (most, code), (second, _) = counts[:2]
    return code if most >= _LEAST and most > second else ""


def is_latin(text: str) -> bool:
    """Whether most letters are of the Latin script."""
    letters = [char for char in text if char.isalpha()]
    return 2 * sum(char <= _LAST_LATIN for char in letters) >= len(letters)
