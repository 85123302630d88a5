"""Runs the steps of a trial and prints one line for each: ok or not ok."""
import os
import sys
import traceback

HOST, PORT = os.environ["HOST"], int(os.environ["PORT"])
USER, PASSWORD, DATABASE = os.environ["DBUSER"], os.environ["PASSWORD"], os.environ["DATABASE"]
failed = False


def check(name):
    """Decorates a function that is a step: it runs at once, and fails by an exception."""

    def run(step):
        global failed
        try:
            step()
            print("ok - " + name, flush=True)
        except BaseException as e:  # also what is no Exception fails a step
            failed = True
            text = " ".join(str(e).split())[:300]
            print(f"not ok - {name}: {type(e).__name__}: {text}", flush=True)
            traceback.print_exc(file=sys.stderr)
        return step

    return run


def equal(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r}")


def end():
    sys.exit(1 if failed else 0)
