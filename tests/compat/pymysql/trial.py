import pymysql

from checks import DATABASE, HOST, PASSWORD, PORT, USER
from dbapi import trial

trial(lambda: pymysql.connect(host=HOST, port=PORT, user=USER, password=PASSWORD, database=DATABASE, charset="utf8mb4", local_infile=True), pymysql.err.IntegrityError, load_local=True)
