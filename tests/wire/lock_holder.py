"""Run as a program: holds the lock of a database until its input ends."""

import sqlite3
import sys

db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
db.execute("ROLLBACK")
db.close()
