import os
import sys

import pymysql

pymysql.version_info = (2, 2, 4, "final", 0)
pymysql.install_as_MySQLdb()
import django
from django.conf import settings

from checks import DATABASE, HOST, PASSWORD, PORT, USER

sys.path.insert(0, os.environ["SHOP"])
settings.configure(
    SECRET_KEY="x", USE_TZ=True, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    INSTALLED_APPS=["django.contrib.contenttypes", "shop"],
    DATABASES={"default": {"ENGINE": "django.db.backends.mysql", "NAME": DATABASE, "USER": USER, "PASSWORD": PASSWORD, "HOST": HOST, "PORT": PORT}},
)
django.setup()
from django.core.management import call_command

call_command("makemigrations", "shop", verbosity=0)
call_command("migrate", "shop", verbosity=0)
