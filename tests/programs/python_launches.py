# SPDX-License-Identifier: MIT
"""Launches kernels in a stand-in for CUPTI from many kinds of Python code, and prints the stack of each.

usage: python_launches.py STANDIN TRACE_LIBRARY
A line for each launch: its correlation id, and then from the innermost one function, file and line of each frame,
with a tab before each. CPython says so itself here; the trace library has to find the same.
"""
import ctypes
import functools
import sys
import threading

standin_path, library_path = sys.argv[1:3]
with_lock = ctypes.PyDLL(standin_path, ctypes.RTLD_GLOBAL)
without_lock = ctypes.CDLL(standin_path, ctypes.RTLD_GLOBAL)
library = ctypes.CDLL(library_path)
library.InitializeInjection()

last = 0
one_at_a_time = threading.Lock()
lines = []


def arguments(number):
    return b"_Z4goodPf", ctypes.c_uint64(1_000_000_000_000_000_000 + 1000 * number), number, 0, True


def launch(library=without_lock):
    """The caller's frames are those of the launch but for the line of this function, which is in both."""
    global last
    with one_at_a_time:
        last += 1
        number = last
        frame = sys._getframe()
        stack = []
        line = sys._getframe().f_lineno + 6
        while frame is not None:
            code = frame.f_code
            name = getattr(code, "co_qualname", code.co_name)
            stack.append([name, code.co_filename, str(line if not stack else frame.f_lineno)])
            frame = frame.f_back
        library.standin_launch(*arguments(number))
    lines.append("\t".join([str(number)] + [part for place in stack for part in place]))


def nested(depth):
    if depth == 0:
        launch()
    else:
        nested(depth - 1)


def generator(count):
    for _ in range(count):
        launch()
        yield count


def delegating(count):
    yield from generator(count)


class Layer:
    def __init__(self, inner=None):
        self.inner = inner

    def __call__(self, *values):
        return self.forward(*values)

    def forward(self, *values):
        if self.inner is not None:
            return self.inner(*values)
        launch()
        return values

    @property
    def weight(self):
        launch()
        return 1

    @staticmethod
    def alone():
        launch(with_lock)


def failing():
    try:
        raise ValueError("in flight")
    except ValueError:
        launch()
        try:
            raise KeyError("another one")
        finally:
            launch()


async def step(further):
    launch()
    if further:
        await step(further - 1)


def decorated(function):
    @functools.wraps(function)
    def wrapper(*values, **named):
        return function(*values, **named)

    return wrapper


@decorated
@decorated
def größe_und_大小():
    launch()


def from_c_and_back():
    list(map(lambda value: launch(), range(2)))
    sorted([2, 1], key=lambda value: launch() or value)
    functools.reduce(lambda one, other: launch() or other, [1, 2, 3])


def compiled(text, name):
    exec(compile(text, name, "exec"), {"launch": launch})


def everything():
    launch()
    launch(with_lock)
    for depth in (1, 5, 60, 200):
        nested(depth)
    for _ in delegating(3):
        pass
    Layer(Layer(Layer()))(1)
    Layer().weight
    Layer.alone()
    try:
        failing()
    except KeyError:
        launch()
    coroutine = step(4)
    try:
        coroutine.send(None)
    except StopIteration:
        pass
    größe_und_大小()
    from_c_and_back()
    [launch() for _ in range(2)]
    # The same address may hold other code later.
    for line in range(30):
        compiled("\n" * line + "def made():\n    launch()\nmade()", f"<made {line}>")


threads = [threading.Thread(target=everything, name=str(i)) for i in range(4)]
everything()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
# By now what was checked at first is read without a check.
for _ in range(20):
    everything()
sys.stdout.buffer.write(("\n".join(lines) + "\n").encode())
