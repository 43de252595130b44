"""A hub for a few people who all are the user who started it. Everything listens on this machine only."""

import os
import sys
from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821  JupyterHub provides it

programs = Path(sys.executable).parent
folder = Path(os.environ["HUB_FOLDER"])
public, hub, proxy = (f"http://127.0.0.1:{port}" for port in os.environ["HUB_PORTS"].split())
patience = int(os.environ["HUB_PATIENCE"])  # seconds

c.JupyterHub.bind_url = public
c.JupyterHub.hub_bind_url = hub
c.JupyterHub.db_url = f"sqlite:///{folder}/hub.sqlite"
c.JupyterHub.cookie_secret_file = f"{folder}/cookie_secret"
c.ConfigurableHTTPProxy.api_url = proxy
# The tests start it: the hub would wait for it ten seconds, and a busy machine may take longer.
c.ConfigurableHTTPProxy.should_start = False

c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = os.environ["HUB_TOKEN"]  # no other user of this machine is to come in
c.Authenticator.allowed_users = set(os.environ["HUB_PEOPLE"].split())
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = f"{folder}/home/{{username}}"
c.Spawner.cmd = [str(programs / "jupyterhub-singleuser"), "--allow-root"]
# Not a login shell: it would forget where the programs are.
c.Spawner.args = ["--ServerApp.terminado_settings={'shell_command': ['/bin/sh']}"]
c.Spawner.start_timeout = c.Spawner.http_timeout = patience
c.Spawner.environment = {"OMP_NUM_THREADS": "1"}

exec(os.environ["HUB_SERVICE"])  # what the docs give to instructors
c.JupyterHub.services.append({"name": "tests", "api_token": os.environ["HUB_TOKEN"]})
# A service of somebody else, in which people sign in, too.
c.JupyterHub.services.append(
    {
        "name": "another",
        "api_token": os.environ["HUB_SECRET_OF_ANOTHER"],
        "oauth_redirect_uri": os.environ["HUB_CALLBACK_OF_ANOTHER"],
        "oauth_no_confirm": True,
    }
)
c.JupyterHub.load_roles.append(
    {"name": "another", "users": [*c.Authenticator.allowed_users], "scopes": ["access:services!service=another"]}
)
# What the tests ask of the hub: to start servers, and to be let into them as the person whose server it is.
c.JupyterHub.load_roles.append({"name": "tests", "services": ["tests"], "scopes": ["read:users", "servers", "tokens"]})
