#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""own-kernel.py COMMAND...: runs it on a terminal of 33 rows and 101 columns.

What standard input has is typed, a line whenever the prompt "~ # " is there; ^C in a line is
Control-C, a second after the line before. Prints what the terminal showed, and exits with the
command's status.

Example: echo tty | tests/own-kernel.py scripts/vm --interactive
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

if sys.argv[1:] in ([], ['-h'], ['--help']):
    print(__doc__, end='')
    sys.exit(0)
if sys.argv[1].startswith('-'):
    print(f'own-kernel.py: there is no option {sys.argv[1]}; --help says what there is', file=sys.stderr)
    sys.exit(2)
lines = [line.rstrip('\n') for line in sys.stdin]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 33, 101, 0, 0))
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b''
answered = 0
end = time.time() + 120
while time.time() < end:
    if select.select([terminal], [], [], 1)[0]:
        try:
            data = os.read(terminal, 4096)
        except OSError:     # the other end is closed
            data = b''
        if not data:
            break
        shown += data
    if lines and lines[0] == '^C':
        time.sleep(1)
        os.write(terminal, b'\x03')
        del lines[0]
    elif lines and shown.count(b'~ # ') > answered:
        answered = shown.count(b'~ # ')
        os.write(terminal, lines.pop(0).encode() + b'\r')
else:
    os.kill(child, 9)
sys.stdout.buffer.write(shown.replace(b'\r', b''))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
