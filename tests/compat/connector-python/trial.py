import mysql.connector

from checks import DATABASE, HOST, PASSWORD, PORT, USER
from dbapi import trial

trial(lambda: mysql.connector.connect(host=HOST, port=PORT, user=USER, password=PASSWORD, database=DATABASE), mysql.connector.IntegrityError)
