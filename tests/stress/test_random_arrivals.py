# SPDX-License-Identifier: Apache-2.0
"""Random functions in assembly that jump into each other, by every form of jump, and loop to their own heads: whoever arrives
inside a probe's jump traps, until djtap mends that. Results as without djtap, calls counted, the text as before at the end.

A round is repeated by its seed:  DJTAP_STRESS_SEED=S pytest tests/stress/test_random_arrivals.py
"""
import os
import random
import re
import signal
import subprocess
import time

import pytest

import workloads
from support import process, run

pytestmark = [pytest.mark.stress, pytest.mark.timeout(3600)]

SEED = int(os.environ.get("DJTAP_STRESS_SEED") or (random.SystemRandom().randrange(2**32) if workloads.LONG else 1))
ROUNDS = 100 if workloads.LONG else 2
FUNCTIONS = 12  # a program
STEPS = ["add $1, %rax", "lea 3(%rax), %rax", "xor %rdi, %rax", "sub $7, %rax", "imul $3, %rax, %rax", "inc %rax", "rol $3, %rax", "nop",
         "mov %rax, %rdx", "push %rax; pop %rdx", "test %rax, %rax", "add %rdi, %rax"]
CONDITIONS = ["jns", "je", "jbe", "jo"]
PADDING = ["", "  .p2align 4", "  .p2align 4, 0xcc", "  .p2align 6", "  nop", "  .byte 0xcc, 0xcc, 0xcc"]
MAIN = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
long steps(long n);
unsigned long calls[%d];
static volatile sig_atomic_t stopped;
static void stop(int signal) { (void)signal; stopped = 1; }
int main(int argc, char** argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 1, n = 1, i = 0;
  signal(SIGTERM, stop);
  printf("pid: %%d\\n", (int)getpid());
  fflush(stdout);
  for (; rounds == 0 ? !stopped : i < rounds; i++) n = steps(n);
  if (rounds != 0) printf("result: %%ld\\n", n);
  printf("rounds: %%ld\\n", i);
  return 0;
}
"""


def a_function(generator, index):
    """Its instructions have labels, into which others jump; some loop to an early one. It returns rax."""
    name = f"f{index}"
    lines = [generator.choice(["  .p2align 4", "", "  .p2align 5"]), f".globl {name}", f".type {name},@function", f"{name}:",
             "  mov %rdi, %rax"]
    steps = generator.randint(2, 6)
    loops = generator.random() < 0.3
    for step in range(steps):
        lines += [f".L{index}_{step}:", f"  {generator.choice(STEPS)}"]
    if loops:
        lines += ["  sub $1, %rcx", f"  jg .L{index}_{generator.randrange(min(3, steps))}"]
    return lines + ["  ret", f".size {name}, .-{name}", generator.choice(PADDING)], steps


def an_arrival(generator, index, steps):
    """A function that jumps into another one: its jump is short, near or conditional, with or without room behind it."""
    name, target = f"g{index}", generator.randrange(FUNCTIONS)
    label = f".L{target}_{generator.randrange(min(steps[target], 4))}"
    lines = [f".globl {name}", f".type {name},@function", f"{name}:", "  mov %rdi, %rax", f"  {generator.choice(STEPS)}"]
    form = generator.choice(["jmp", "near", "condition", "near condition"])
    if form == "jmp":
        lines.append(f"  jmp {label}")
    elif form == "near":
        lines.append(f"  .byte 0xe9; .long {label} - . - 4")
    elif form == "condition":
        lines += [f"  {generator.choice(CONDITIONS)} {label}", "  ret"]
    else:
        lines += [f"  .byte 0x0f, 0x8{generator.randrange(16):x}; .long {label} - . - 4", "  ret"]
    return lines + [f".size {name}, .-{name}", generator.choice(PADDING)]


def a_program(generator):
    """(assembly, calls of each f in a round): steps() calls all of them, some more often."""
    functions = [a_function(generator, index) for index in range(FUNCTIONS)]
    steps = [count for _, count in functions]
    parts = [lines for lines, _ in functions] + [an_arrival(generator, index, steps) for index in range(FUNCTIONS)]
    generator.shuffle(parts)
    weights = {f"f{index}": generator.choice([1, 1, 2, 10]) for index in range(FUNCTIONS)}
    calls = [name for name, weight in weights.items() for _ in range(weight)] + [f"g{index}" for index in range(FUNCTIONS)] * generator.choice([1, 3])
    generator.shuffle(calls)
    text = [".text", *(line for part in parts for line in part if line), ".p2align 4", ".globl steps", ".type steps,@function", "steps:",
            "  sub $8, %rsp"]
    for name in calls:
        text += [f"  mov ${generator.randint(1, 4)}, %ecx", f"  call {name}", "  mov %rax, %rdi"]
    return "\n".join([*text, "  add $8, %rsp", "  ret", ".size steps, .-steps", '.section .note.GNU-stack,"",@progbits', ""]), weights


@pytest.fixture(name="built", params=range(ROUNDS))
def build(request, tmp_path):
    """(program, calls of each function in a round, options of djtap, seed)."""
    seed = SEED + request.param
    generator = random.Random(seed)
    text, weights = a_program(generator)
    source, main, path = tmp_path / "jumps.s", tmp_path / "main.c", tmp_path / "jumps"
    source.write_text(text)
    main.write_text(MAIN % FUNCTIONS)
    link = generator.choice([["-no-pie"], ["-pie", "-fPIE"], ["-static"]])
    subprocess.run(["gcc", "-O1", *link, "-o", path, main, source], check=True)
    return path, weights, generator.choice([[], [], ["--guards=all"]]), seed


def script(weights):
    return "".join(f'probe func("{name}") {{ {name}++ }} ' for name in weights)


def test_results_and_counts(built):
    path, weights, options, seed = built
    rounds = 20000
    bare = subprocess.run([path, str(rounds)], capture_output=True, text=True, check=True).stdout
    result = run.run([*options, "-e", script(weights), "-c", f"{path} {rounds}"])
    assert result.returncode == 0, (seed, result)
    assert re.findall("result: (.*)", result.stdout) == re.findall("result: (.*)", bare), (seed, result)
    assert result.globals == {name: rounds * weight for name, weight in weights.items()}, (seed, result)


def test_text_is_put_back(built, program, djtap_once):
    """In the middle of it all, by djtap or, when that was killed, by `clean`."""
    path, weights, options, seed = built
    target = program(path, "0")
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    tracer = program(*run.command([*options, "-v", "-e", script(weights), "-p", str(target.pid)]))
    process.wait_until(lambda: process.differences(before, process.text_of(target.pid)), "no probe is in the text")
    time.sleep(0.5)  # it mends what is hot; whatever has been done by then is put back
    if seed % 2:
        tracer.signal(signal.SIGINT)
        assert tracer.finish().returncode == 0, seed
    else:
        tracer.signal(signal.SIGKILL)
        tracer.process.wait()
        assert djtap_once("clean", target.pid).returncode == 0, seed
    assert process.differences(before, process.text_of(target.pid)) == [], seed
    target.signal(signal.SIGTERM)
    assert target.finish().returncode == 0, seed
