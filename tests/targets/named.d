// D names of every kind: members, overloads, instances of templates, nested functions; and what its types hold.
module shop.goods;
import core.stdc.stdio;

struct Item
{
    double price;
    int count;
    double total(double tax) const
    {
        return price * count * tax;
    }
}

class Animal
{
    int legs = 4;
    string name;
    this(string n)
    {
        name = n;
    }

    ~this()
    {
    }

    int walk(int steps)
    {
        return steps * legs;
    }
}

class Bird : Animal
{
    this(string n)
    {
        super(n);
        legs = 2;
    }

    override int walk(int steps)
    {
        return steps * legs + 1;
    }
}

pragma(inline, false) int join(string a, const(char)[] b, int[] v)
{
    int sum = cast(int)(a.length + b.length);
    foreach (x; v)
        sum += x;
    return sum;
}

int scale(int n)
{
    return n * 2;
}

int scale(long n, int delegate(int) f = null)
{
    return f ? f(cast(int) n) : cast(int) n;
}

T biggest(T)(T[] v)
{
    T most = v[0];
    foreach (x; v)
        if (x > most)
            most = x;
    return most;
}

int sell(Animal animal, Item[2] two, int[string] prices)
{
    return animal.walk(1) + two[1].count;
}

extern (C) int rt_init();
extern (C) int main()
{
    rt_init();
    int inner(int k)
    {
        return k + 1;
    }

    auto item = Item(1.5, 2);
    Animal bird = new Bird("tit");
    printf("%g %d %d\n", item.total(2), bird.walk(5), join("hello", "wo", [1, 2, 3]));
    printf("%d %g %d %d %d\n", biggest([3, 9, 2]), biggest([0.5, 0.25]), scale(1), scale(2L), scale(3L, &inner));
    printf("%d\n", sell(bird, [item, Item(1, 7)], null));
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
