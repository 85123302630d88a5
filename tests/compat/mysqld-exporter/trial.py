"""Prometheus' exporter for MySQL, which reads what dashboards show: each of its collectors has to succeed, and the main figures have to be there."""
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

# Collectors of what MySQL itself does not have either: Aurora, TokuDB and Percona Server. Those of options that take values, or need a table of a
# program that writes heartbeats, are no collectors of their own.
OTHERS = {"info_schema.replica_host", "engine_tokudb_status", "info_schema.query_response_time", "heartbeat", "heartbeat.utc"}
WAIT_MAX = 60  # seconds until the exporter answers

FIGURES = ["mysql_up 1", "mysql_global_status_uptime", "mysql_global_status_threads_connected", "mysql_global_status_questions", "mysql_global_status_max_used_connections [1-9]",
           "mysql_global_status_buffer_pool_pages", "mysql_global_status_table_open_cache_misses",
           "mysql_global_variables_max_connections", "mysql_global_variables_innodb_buffer_pool_size", "mysql_perf_schema_events_statements_total",
           "mysql_info_schema_table_rows", "mysql_info_schema_auto_increment_column"]

failed = False


def step(name, fault):
    global failed
    failed = failed or fault is not None
    print(f"ok - {name}" if fault is None else f"not ok - {name}: {fault}", flush=True)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def client(statement):
    subprocess.run(["mariadb", "-h", os.environ["HOST"], "-P", os.environ["PORT"], "-u", os.environ["DBUSER"], "-p" + os.environ["PASSWORD"],
                    "-D", os.environ["DATABASE"], "-e", statement], check=True)


def scrape(url, process):
    end = time.monotonic() + WAIT_MAX
    while True:
        try:
            return urllib.request.urlopen(url, timeout=WAIT_MAX).read().decode()
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                raise
            time.sleep(0.1)


def main(exporter):
    client("CREATE TABLE numbered (id INT AUTO_INCREMENT PRIMARY KEY, note VARCHAR(20)); INSERT INTO numbered (note) VALUES ('a'), ('b')")
    listed = subprocess.run([exporter, "--help"], capture_output=True, text=True)
    collectors = sorted(set(re.findall(r"--(?:\[no-\])?collect\.([a-z0-9_.]+)(?![a-z0-9_.=])", listed.stdout + listed.stderr)) - OTHERS)
    with tempfile.TemporaryDirectory() as home:
        port = free_port()
        env = dict(os.environ, HOME=home, DATA_SOURCE_NAME=f"{os.environ['DBUSER']}:{os.environ['PASSWORD']}@tcp({os.environ['HOST']}:{os.environ['PORT']})/")
        process = subprocess.Popen([exporter, f"--web.listen-address=127.0.0.1:{port}", *(f"--collect.{c}" for c in collectors)],
                                   env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            metrics = scrape(f"http://127.0.0.1:{port}/metrics", process)
        finally:
            process.kill()
            log = process.communicate()[0]
    for c in collectors:
        fault = next((line for line in log.splitlines() if f"scraper={c} " in line), None)
        step(c, fault and re.sub(r".*err=", "", fault))
    for figure in FIGURES:
        step(figure.split()[0], None if re.search("^" + figure, metrics, re.M) else "it is missing")


main(sys.argv[1])
sys.exit(failed)
