import MySQLdb

from checks import DATABASE, HOST, PASSWORD, PORT, USER
from dbapi import trial

trial(lambda: MySQLdb.connect(host=HOST, port=PORT, user=USER, password=PASSWORD, database=DATABASE, charset="utf8mb4"), MySQLdb.IntegrityError)
