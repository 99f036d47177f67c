"""Seeded generator of varied strings for comparing tokenizers."""

import random

# Ranges that were assigned before Unicode 14, so that every Unicode version in use agrees on their classes.
SCRIPTS = [
    (0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x370, 0x377), (0x391, 0x3A1), (0x400, 0x481), (0x531, 0x556),
    (0x5D0, 0x5EA), (0x621, 0x64A), (0x660, 0x669), (0x905, 0x939), (0x93E, 0x94C), (0x966, 0x96F),
    (0x995, 0x9A8), (0xB95, 0xB95), (0xE01, 0xE3A), (0xE40, 0xE5B), (0x10A0, 0x10C5), (0x10D0, 0x10FA),
    (0x1100, 0x1112), (0x1161, 0x1175), (0x1200, 0x1248), (0x1780, 0x17B3), (0x1E00, 0x1EF9),
    (0x2160, 0x2188), (0x2460, 0x249B), (0x24B6, 0x24E9), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x4E00, 0x9FA5),
    (0xAC00, 0xD7A3), (0xFF10, 0xFF19), (0xFF21, 0xFF3A), (0x10330, 0x1034A), (0x1D400, 0x1D454),
    (0x1D7CE, 0x1D7FF), (0x20000, 0x2A6D6),
]
MARKS = [(0x300, 0x36F), (0x591, 0x5BD), (0x64B, 0x65F), (0x93C, 0x93C), (0x20D0, 0x20DC), (0xFE00, 0xFE0F)]
SYMBOLS = [(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E), (0xA1, 0xBF), (0x2010, 0x2027), (0x2030, 0x205E),
           (0x20A0, 0x20BF), (0x2190, 0x21FF), (0x2200, 0x22FF), (0x2500, 0x257F), (0x3001, 0x301F)]
EMOJI = ["😀", "👍🏽", "👩‍👩‍👧‍👦", "🇩🇪", "❤️", "🏳️‍🌈", "1️⃣", "🤷🏻‍♀️", "🫠", "☃", "✈️"]
SPACES = [" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r", " \n", "\n ", "\u00a0", "\u1680", "\u2003", "\u2028",
          "\u2029", "\u202f", "\u205f", "\u3000", "\u0085", "\u000b", "\u000c", "\u180e", "\u200b", "\ufeff", "\u2060"]
CODE = ["def f(x):\n    return x+1\n", "for (int i=0;i<10;++i){a[i]=b[i]*2;}", "#include <vector>\n\n",
        "SELECT * FROM t WHERE a='b''c';", "\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n", "x = {'a': [1,2,3]}\n",
        "https://example.org/a/b?c=d&e=%20f#g", "user@example.com", "C:\\Windows\\System32", "$\\frac{a}{b}$", "a_b__c",
        "camelCaseWords", "0x1F", "1e-5", "<div class=\"x\">&nbsp;</div>", "```python\n", "--flag=value", "*.tar.gz"]
CONTRACTIONS = ["I'm", "don't", "we'll", "they've", "you're", "it's", "he'd", "I'M", "DON'T", "WE'LL", "'s", "''t",
                "it’s", "y'all'd've", "'ſ", "'S"]
WORDS = "the of and to in a is that for it was on with as be at by this had not are but from or have an they which " \
        "Tokenization internationalization antidisestablishmentarianism New York hello world HELLO".split()


def pick(rng, ranges):
    low, high = rng.choice(ranges)
    return chr(rng.randint(low, high))


def piece(rng, specials):
    kind = rng.randrange(16)
    if kind < 3:
        return rng.choice(WORDS) + rng.choice(["", " ", " ", ", ", ". ", "! "])
    if kind == 3:
        low, high = rng.choice(SCRIPTS)
        return "".join(chr(rng.randint(low, high)) for _ in range(rng.randint(1, 12)))
    if kind == 4:
        return "".join(pick(rng, SCRIPTS) for _ in range(rng.randint(1, 6)))
    if kind == 5:
        return "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 12))) + rng.choice(["", ".", ",", "%"])
    if kind == 6:
        return "".join(rng.choice(SPACES) for _ in range(rng.randint(1, 5)))
    if kind == 7:
        return rng.choice(SPACES) * rng.randint(1, 40)
    if kind == 8:
        return "".join(pick(rng, SYMBOLS) for _ in range(rng.randint(1, 6)))
    if kind == 9:
        return rng.choice(EMOJI) * rng.randint(1, 3)
    if kind == 10:
        return rng.choice(CODE)
    if kind == 11:
        return rng.choice(CONTRACTIONS)
    if kind == 12:
        return pick(rng, SCRIPTS) + "".join(pick(rng, MARKS) for _ in range(rng.randint(1, 4)))
    if kind == 13:
        return chr(rng.choice([0, 1, 2, 7, 8, 0x1B, 0x1F, 0x7F, 0x80, 0x9F, 0xAD, 0x200D, 0x2066, 0xE000, 0xFFFD,
                               0xFFFF, 0x10FFFF]))
    if kind == 14 and specials:
        name = rng.choice(specials)
        cut = rng.randrange(6)
        if cut == 0:
            return name[: rng.randint(1, len(name))]
        if cut == 1:
            return name[rng.randrange(len(name)):]
        if cut == 2:
            return name + name
        return rng.choice(["", " ", "\n", "a"]) + name + rng.choice(["", " ", "\n", "b"])
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyzABC") for _ in range(rng.choice([3, 10, 30, 200])))


def strings(count, specials, seed):
    """`count` strings: some fixed ones, then random joins of pieces; a few are long."""
    rng = random.Random(seed)
    out = ["", " ", "\n", "a", "  a", "a  ", "\u00e9", "e\u0301", "\ud55c\u1112\u1161\u11ab", "\x00", "ab" * 5000,
           " " * 3000, "\n" * 3000, "9" * 3000, "é" * 2000, "漢" * 2000, "a\u0301" * 500]
    out += list(specials)[:50]
    while len(out) < count:
        out.append("".join(piece(rng, specials) for _ in range(rng.choice([1, 2, 3, 5, 8, 13, 40]))))
    return out[:count]
