"""Runs a command on a terminal of its own, types the lines of stdin there, and prints what appears.

    on_terminal.py COMMAND…

The command's exit code becomes this one's. An escape character is printed as ␛.
"""

import fcntl
import os
import pty
import struct
import sys
import termios


def main(words: list[str]) -> int:
    typed = sys.stdin.buffer.read()
    child, terminal = pty.fork()
    if not child:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        os.execvp(words[0], words)
    attributes = termios.tcgetattr(terminal)
    attributes[3] &= ~termios.ECHO  # what is typed is in the transcript already
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)
    os.write(terminal, typed)
    seen = b""
    try:
        while chunk := os.read(terminal, 65536):
            seen += chunk
    except OSError:  # how a terminal ends
        pass
    text = seen.replace(b"\r\n", b"\n").replace(b"\x1b", "␛".encode())
    sys.stdout.buffer.write(text)
    sys.stdout.flush()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
