# SPDX-License-Identifier: Apache-2.0
"""The steps of a location that compute with 16 bytes, or convert numbers: on Python's own, which have no size."""
import re
from fractions import Fraction

WHOLE = {"signed": (64, True), "unsigned": (64, False), "wide": (128, True), "unsigned_wide": (128, False)}
FLOATING = {"half": (10, 5), "float": (23, 8), "double": (52, 11), "extended": (63, 15), "quad": (112, 15)}  # bits of fraction and exponent
FORMS = "|".join([*FLOATING, "unsigned_wide", "wide", "unsigned", "signed"])
STEP = re.compile(rf"({FORMS})_(?:to_({FORMS})|(\w+))$")
COMPUTE = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "and": lambda a, b: a & b, "or": lambda a, b: a | b,
           "xor": lambda a, b: a ^ b, "shl": lambda a, b: a << b, "sar": lambda a, b: a >> b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
           "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


def decode(form, bits):
    """The number; a float where it is none, or infinite."""
    if form in WHOLE:
        size, is_signed = WHOLE[form]
        bits &= (1 << size) - 1
        return bits - (1 << size) if is_signed and bits >> (size - 1) else bits
    fraction_bits, exponent_bits = FLOATING[form]
    first = form == "extended"
    exponent = bits >> (fraction_bits + first) & ((1 << exponent_bits) - 1)
    fraction = bits & ((1 << fraction_bits) - 1)
    sign = -1 if bits >> (fraction_bits + first + exponent_bits) & 1 else 1
    if exponent == (1 << exponent_bits) - 1:
        return sign * float("inf") if fraction == 0 else float("nan")
    whole = bits >> fraction_bits & 1 if first else exponent != 0
    return sign * Fraction((whole << fraction_bits) + fraction) * Fraction(2) ** (max(exponent, 1) - (1 << exponent_bits - 1) + 1 - fraction_bits)


def encode(form, number):
    if form in WHOLE:
        return int(number) & ((1 << WHOLE[form][0]) - 1)
    fraction_bits, exponent_bits = FLOATING[form]
    first, bias = form == "extended", (1 << exponent_bits - 1) - 1
    sign, number = number < 0, abs(number)
    if isinstance(number, float) and number in (float("inf"),) or number != number:
        raise ValueError("not for samples")
    power = 1 - bias
    while number >= Fraction(2) ** (power + 1):
        power += 1
    scaled = round(Fraction(number) / Fraction(2) ** (power - fraction_bits))  # ties to even
    exponent = power + bias - 1 + (scaled >> fraction_bits)
    mantissa = scaled & ((1 << fraction_bits) - 1) | (first and exponent != 0) << fraction_bits
    return sign << (fraction_bits + first + exponent_bits) | exponent << (fraction_bits + first) | mantissa


def step(word, stack):
    """True: the word was such a step, and the stack is what it leaves."""
    match = STEP.match(word)
    if word in ("join", "extended2double"):
        high, low = stack.pop(), stack.pop()
        stack.append(high << 64 | low if word == "join" else encode("double", decode("extended", high << 64 | low)))
    elif word in ("low", "high"):
        stack.append(stack.pop() >> (64 if word == "high" else 0) & ((1 << 64) - 1))
    elif not match or (match.group(1) == "double" and not match.group(2)) or (match.group(1) == "unsigned" and not match.group(2)):
        return False
    elif match.group(2):
        stack.append(encode(match.group(2), decode(match.group(1), stack.pop())))
    else:
        form, name = match.group(1), match.group(3)
        right, left = (decode(form, bits) for bits in (stack.pop(), stack.pop()))
        if name == "shr":
            number = (left & ((1 << 128) - 1)) >> right
        elif name in ("div", "mod"):
            share = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            number = left / right if form in FLOATING else share if name == "div" else left - share * right
        else:
            number = COMPUTE[name](left, right)
        stack.append(int(number) if isinstance(number, bool) else encode(form, number))
    return True
