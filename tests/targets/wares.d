// Values of every kind that D has: slices, strings of three widths, tables, delegates, classes, unions, nested functions.
module wares;
import core.stdc.stdio;

enum Size : ubyte
{
    small,
    large = 200
}

union Either
{
    int number;
    float fraction;
}

struct Pair(T)
{
    T first;
    T second;
}

struct Box
{
    string label;
    int[] counts;
    Size size;
    bool open;
    Box* inner;
}

interface Named
{
    int id();
}

class Base
{
    int kept = 3;
    string name;
    int id()
    {
        return kept;
    }
}

class Derived : Base, Named
{
    double weight = 1.5;
    Base other;
    override int id()
    {
        return kept * 2;
    }
}

__gshared int total = 5;

pragma(inline, false) int scalars(byte b, ubyte ub, short s, ushort us, int i, uint u, long l, ulong ul, float f, double d,
                                  bool yes, char c, wchar w, dchar dc, Size size, int* into)
{
    int sum = b + ub + s + us + i + cast(int) u + cast(int) l + cast(int) ul + cast(int) f + cast(int) d + size + *into;
    bool no = !yes;
    printf("scalars: %d\n", sum + c + w + dc + no); // LINE:scalars
    return sum;
}

pragma(inline, false) int arrays(int[] slice, int[3] fixed, string text, const(char)[] more, wstring wide, dstring wider,
                                 double[][] nested, int[] none, string[] words, Pair!int[] pairs)
{
    int[2][2] grid = [[1, 2], [3, 4]];
    printf("arrays: %zu\n", slice.length + fixed[0] + text.length + more.length + wide.length + wider.length
            + nested[1].length + none.length + words.length + pairs.length + grid[1][0]); // LINE:arrays
    return grid[1][1];
}

pragma(inline, false) int objects(Box box, ref Box other, Derived derived, Base base, Named named, Either either, int[string] table,
                                  int delegate(int) add, int function(int) twice, Pair!double pair, Base nothing)
{
    auto kept = derived;
    printf("objects: %d\n", box.inner.size + other.counts[0] + derived.kept + base.id() + named.id() + either.number + table["two"]
            + add(3) + twice(4) + cast(int) pair.second + kept.kept); // LINE:objects
    return total;
}

int doubled(int n)
{
    return n * 2;
}

extern (C) int rt_init();
extern (C) int main()
{
    rt_init();
    int place = 7;
    int plus(int n)
    {
        return n + place;
    }

    Box inner = Box("inner", [4, 5], Size.small, false, null);
    Box box = Box("box", [1, 2, 3], Size.large, true, &inner);
    auto derived = new Derived;
    derived.name = "der";
    derived.other = new Base;
    Either either;
    either.number = 42;
    foreach (round; 0 .. 2)
    {
        scalars(-1, 200, -300, 60_000, -70_000, 4_000_000_000, -5_000_000_000, ulong.max, 1.5f, -2.25, true, 'c', 'w', 'd', Size.large, &place);
        arrays([1, 2, 3], [7, 8, 9], "text", "more", "wide"w, "wider"d, [[0.5], [1.5, 2.5]], null, ["a", "bc"],
                [Pair!int(1, 2), Pair!int(3, 4)]);
        objects(box, inner, derived, derived.other, derived, either, ["one": 1, "two": 2], &plus, &doubled, Pair!double(0.5, 2.5), null);
    }
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
