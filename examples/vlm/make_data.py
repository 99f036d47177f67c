#!/usr/bin/env python3
"""Drawings with captions from Debian's packages (Python's library only).

    examples/vlm/make_data.py runs/vlm/data

Things that three hands have drawn: the font of fonts-noto-color-emoji, the pictures of ruby-gemojione (EmojiOne) and
of libjs-emojify. The caption is Unicode's subgroup and name: "animal-marine: octopus" (package unicode-data).

Writes pictures/*.png, train.jsonl and heldout.jsonl (conversations with a picture), and questions.jsonl and
questions_grey.jsonl: for each held-out drawing ten captions of which one is right, the nine others drawn by seed from all
held-out captions; once with the picture, once with a grey one. Held out are drawings of the font, of things that the
training set shows drawn by the two other hands, when no other picture of the whole set looks nearly like them. Training
pictures are written several times, placed differently in frames of different sizes.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import random
import struct
import sys
import zlib

FONT = pathlib.Path("/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf")
NAMES = pathlib.Path("/usr/share/unicode/emoji/emoji-test.txt")
GEMOJIONE = pathlib.Path("/usr/share/rubygems-integration/all/gems")
EMOJIFY = pathlib.Path("/usr/share/javascript/emojify.js/images/emoji")
SEED = 1
HANDS = 3
HELD_OUT_SHARE = 4  # one of so many
CHOICES = 10
PLACINGS = 3  # of each training picture, the plain one included
GREY_SIDE = 136
CELLS = 8  # side of the thumbnails that are compared
TWIN_DISTANCE = 12.0  # mean distance of levels below which two thumbnails are near-twins


def font_pictures(path):
    """Code point -> PNG of each single character that the font draws in colour (tables cmap, CBLC, CBDT)."""
    data = path.read_bytes()
    tables = {}
    for i in range(struct.unpack_from(">H", data, 4)[0]):
        name, _, offset, _ = struct.unpack_from(">4sIII", data, 12 + 16 * i)
        tables[name.decode()] = offset
    glyphs = {}
    location = tables["CBLC"]
    first_list, _, count = struct.unpack_from(">III", data, location + 8)
    for k in range(count):
        first, last, offset = struct.unpack_from(">HHI", data, location + first_list + 8 * k)
        header = location + first_list + offset
        form, image_form, start = struct.unpack_from(">HHI", data, header)
        if (form, image_form) != (1, 17):
            sys.exit(f"{path}: glyph table of form {form}, {image_form}; expected 1, 17")
        offsets = struct.unpack_from(f">{last - first + 2}I", data, header + 8)
        for glyph in range(first, last + 1):
            begin, end = (tables["CBDT"] + start + offsets[glyph - first + j] for j in (0, 1))
            glyphs[glyph] = data[begin + 9:end]
    pictures = {}
    for i in range(struct.unpack_from(">H", data, tables["cmap"] + 2)[0]):
        table = tables["cmap"] + struct.unpack_from(">HHI", data, tables["cmap"] + 4 + 8 * i)[2]
        if struct.unpack_from(">H", data, table)[0] != 12:
            continue
        for group in range(struct.unpack_from(">I", data, table + 12)[0]):
            first, last, glyph = struct.unpack_from(">III", data, table + 16 + 12 * group)
            for code in range(first, last + 1):
                if glyph + code - first in glyphs:
                    pictures[code] = glyphs[glyph + code - first]
    return pictures


def other_pictures():
    """(hand, code point, PNG) of the drawings of the two other packages."""
    out = []
    gemojione = sorted(GEMOJIONE.glob("gemojione-*"))[-1]
    codes = {}  # by the name between colons
    for entry in json.loads((gemojione / "config/index.json").read_text()).values():
        for name in [entry["shortname"], *entry.get("aliases", [])]:
            codes[name.strip(":")] = entry["unicode"]
    for file in sorted((gemojione / "assets/png").glob("*.png")):
        if "-" not in file.stem:
            out.append(("gemojione", int(file.stem, 16), file.read_bytes()))
    for file in sorted(EMOJIFY.glob("*.png")):
        code = codes.get(file.stem, "-")
        if "-" not in code:
            out.append(("emojify", int(code, 16), file.read_bytes()))
    return out


def names(path):
    """Code point -> (subgroup, name)."""
    subgroup, out = "", {}
    for line in path.read_text().splitlines():
        if line.startswith("# subgroup: "):
            subgroup = line[len("# subgroup: "):]
        if "; fully-qualified" not in line:
            continue
        codes = [int(c, 16) for c in line.split(";")[0].split() if c != "FE0F"]
        if len(codes) == 1:
            out[codes[0]] = (subgroup, line.split("#", 1)[1].split(None, 2)[2])
    return out


def decode_png(png):
    """Width, height and rows of RGBA bytes of a PNG of at most 8 bits a channel, not interlaced."""
    at, packed, palette, alpha = 8, b"", b"", b""
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        content = png[at + 8:at + 8 + length]
        at += 12 + length
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack_from(">IIBB", content)
        packed += content if kind == b"IDAT" else b""
        palette = content if kind == b"PLTE" else palette
        alpha = content if kind == b"tRNS" else alpha
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    rows = unfiltered(zlib.decompress(packed), height, (width * bits * channels + 7) // 8, max(1, bits * channels // 8))
    if bits < 8:
        shifts, mask = range(8 - bits, -1, -bits), (1 << bits) - 1
        rows = [[b >> s & mask for b in row for s in shifts][:width] for row in rows]
    if colour == 3:
        colours = [bytes(palette[3 * i:3 * i + 3]) + bytes([alpha[i] if i < len(alpha) else 255])
                   for i in range(len(palette) // 3)]
        return width, height, [b"".join(colours[i] for i in row) for row in rows]
    scale = 255 // ((1 << bits) - 1)
    return width, height, [rgba(row, channels, scale) for row in rows]


def rgba(row, channels, scale):
    """A row of grey or coloured pixels, with or without alpha, as RGBA bytes."""
    if channels == 4:
        return bytes(row)
    out = bytearray()
    for x in range(0, len(row), channels):
        pixel = row[x:x + channels]
        out += bytes(pixel) + b"\xff" if channels == 3 else bytes([pixel[0] * scale] * 3 + [pixel[1] if channels == 2 else 255])
    return bytes(out)


def unfiltered(raw, height, stride, step):
    """The rows of a PNG behind its five filters; step: bytes of a pixel."""
    rows, above = [], bytearray(stride)
    for y in range(height):
        form, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left = row[i - step] if i >= step else 0
            corner = above[i - step] if i >= step else 0
            if form == 1:
                row[i] = row[i] + left & 255
            elif form == 2:
                row[i] = row[i] + above[i] & 255
            elif form == 3:
                row[i] = row[i] + (left + above[i]) // 2 & 255
            elif form == 4:
                guess = left + above[i] - corner
                near = min((abs(guess - left), 0, left), (abs(guess - above[i]), 1, above[i]), (abs(guess - corner), 2, corner))
                row[i] = row[i] + near[2] & 255
        rows.append(row)
        above = row
    return rows


def encode_png(side, rows):
    """A square of rows of RGB bytes as a PNG."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    body = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 6)
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def on_white(width, height, rows):
    """A square of RGB rows: the picture over white, centred."""
    side = max(width, height)
    blank = b"\xff" * (3 * side)
    top, left = (side - height) // 2, (side - width) // 2
    out = [blank] * top
    for row in rows:
        line = bytearray(blank)
        for x in range(width):
            r, g, b, a = row[4 * x:4 * x + 4]
            if a:
                place = 3 * (left + x)
                line[place:place + 3] = bytes((c * a + 255 * (255 - a)) // 255 for c in (r, g, b))
        out.append(bytes(line))
    return side, out + [blank] * (side - len(out))


def in_frame(side, rows, draw):
    """The picture in a larger white frame, at a random place."""
    larger = side + draw.randint(2, side // 4)
    top, left = draw.randint(0, larger - side), draw.randint(0, larger - side)
    before, behind = b"\xff" * (3 * left), b"\xff" * (3 * (larger - side - left))
    blank = b"\xff" * (3 * larger)
    return larger, [blank] * top + [before + row + behind for row in rows] + [blank] * (larger - side - top)


def thumbnail(side, rows):
    """Mean level of each channel in CELLS x CELLS cells."""
    sums = [0] * (3 * CELLS * CELLS)
    for y in range(0, side, 2):
        row = rows[y]
        for x in range(0, side, 2):
            cell = 3 * (y * CELLS // side * CELLS + x * CELLS // side)
            for c in range(3):
                sums[cell + c] += row[3 * x + c]
    count = (side / 2 / CELLS) ** 2
    return [s / count for s in sums]


def has_twin(one, others):
    for other in others:
        if other is not one and sum(abs(a - b) for a, b in zip(one, other)) / len(one) < TWIN_DISTANCE:
            return True
    return False


def user_message(picture):
    return {"role": "user", "content": [{"type": "image", "image": picture}]}


def conversation(picture, caption):
    return {"messages": [user_message(picture), {"role": "assistant", "content": caption}]}


def question(picture, captions, right):
    return {"messages": [user_message(picture)], "choices": captions, "answer": captions.index(right), "task": "caption"}


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def check_installed():
    for needed, package in ((FONT, "fonts-noto-color-emoji"), (NAMES, "unicode-data"), (EMOJIFY, "libjs-emojify"),
                            (next(GEMOJIONE.glob("gemojione-*"), GEMOJIONE / "gemojione"), "ruby-gemojione")):
        if not needed.exists():
            sys.exit(f"{needed}: is missing; apt-get install {package}")


def all_pictures(limit):
    """File's name -> (caption, side, rows) of the things that all hands draw, those of the font first."""
    known, out = names(NAMES), {}
    drawn = [("noto", code, png) for code, png in sorted(font_pictures(FONT).items())] + other_pictures()
    hands = collections.defaultdict(set)
    for hand, code, _ in drawn:
        hands[code].add(hand)
    codes = sorted(code for code in hands if len(hands[code]) == HANDS and code in known)
    if limit:
        codes = codes[::max(1, len(codes) // limit)]
    wanted = set(codes)
    for hand, code, png in drawn:
        if code in wanted:
            out[f"pictures/{hand}-{code:x}.png"] = (": ".join(known[code]), *on_white(*decode_png(png)))
    return out


def held_out(pictures):
    """Names of drawings of the font that no other picture resembles, and how many were looked at."""
    thumbnails = {name: thumbnail(side, rows) for name, (_, side, rows) in pictures.items()}
    drawn = [name for name in pictures if "noto" in name
             and int(hashlib.sha256(name.encode()).hexdigest(), 16) % HELD_OUT_SHARE == 0]
    return [name for name in drawn if not has_twin(thumbnails[name], thumbnails.values())], len(drawn)


def write_training(out, pictures, held, draw):
    """Writes train.jsonl and the further placings; returns the number of conversations."""
    train = []
    for name, (caption, side, rows) in pictures.items():
        if name in held:
            continue
        train.append(conversation(name, caption))
        for k in range(1, PLACINGS):
            placed = name.replace(".png", f"-{k}.png")
            (out / placed).write_bytes(encode_png(*in_frame(side, rows, draw)))
            train.append(conversation(placed, caption))
    write_lines(out / "train.jsonl", train)
    return len(train)


def write_questions(out, captions, draw):
    """captions: name -> caption of the held-out pictures."""
    questions = []
    for name, caption in captions.items():
        choices = draw.sample([c for n, c in captions.items() if n != name], CHOICES - 1) + [caption]
        draw.shuffle(choices)
        questions.append((name, choices))
    write_lines(out / "questions.jsonl", [question(n, c, captions[n]) for n, c in questions])
    write_lines(out / "questions_grey.jsonl", [question("pictures/grey.png", c, captions[n]) for n, c in questions])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--limit", type=int, default=0, help="take only so many things, evenly (0: all)")
    arguments = parser.parse_args()
    check_installed()
    out, draw = arguments.out, random.Random(SEED)
    (out / "pictures").mkdir(parents=True, exist_ok=True)
    pictures = all_pictures(arguments.limit)
    for name, (_, side, rows) in pictures.items():
        (out / name).write_bytes(encode_png(side, rows))
    (out / "pictures/grey.png").write_bytes(encode_png(GREY_SIDE, [b"\x80" * (3 * GREY_SIDE)] * GREY_SIDE))
    held, drawn = held_out(pictures)
    count = write_training(out, pictures, set(held), draw)
    captions = {name: pictures[name][0] for name in held}
    write_lines(out / "heldout.jsonl", [conversation(name, caption) for name, caption in captions.items()])
    write_questions(out, captions, draw)
    print(f"{len(pictures)} pictures, {len(held)} held out ({drawn - len(held)} more have near-twins), "
          f"{count} conversations to train on")


if __name__ == "__main__":
    main()
