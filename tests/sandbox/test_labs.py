"""The packages that courses use most run in a sandbox, and what they ask for by themselves is nobody's attempt.

`make labs-installed` installs them. Whoever has not done so skips this.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from grader.host.limits import Limits
from grader.host.sandbox_process import SandboxProcess
from support.proof import skip

FILES = {"table.csv": b"a,b\n1,x\n2,y\n"}
SECONDS = 120  # for a cold disk

LABS = {
    "pandas": "import pandas\npandas.read_csv('table.csv').groupby('b').sum().to_csv('sums.csv')",
    "pyarrow": """
import pandas, pyarrow.csv
pyarrow.csv.read_csv('table.csv')
pandas.read_csv('table.csv', engine='pyarrow')
""",
    "openpyxl": "import pandas\npandas.DataFrame({'a': [1]}).to_excel('a.xlsx'); pandas.read_excel('a.xlsx')",
    "scipy": """
import scipy.optimize, scipy.stats
scipy.optimize.minimize(lambda x: (x**2).sum(), [1.0]); scipy.stats.norm.cdf(0)
""",
    "sklearn": """
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
cross_val_score(RandomForestClassifier(5), *load_iris(return_X_y=True), n_jobs=2)
KMeans(3, n_init=2).fit(load_iris().data)
""",
    "seaborn": "import pandas, seaborn\nseaborn.set_theme(); seaborn.histplot(pandas.DataFrame({'a': [1, 2]}), x='a');",
    "statsmodels": """
import statsmodels.api as sm
sm.OLS([1.0, 2.0, 4.0], sm.add_constant([0.0, 1.0, 2.0])).fit().summary()
""",
    "sympy": "import sympy\nx = sympy.symbols('x')\nsympy.integrate(x**2, x)",
    "networkx": "import networkx\nnetworkx.draw(networkx.path_graph(4))",
    "PIL": """
from PIL import Image, ImageDraw, ImageFont
picture = Image.new('RGB', (20, 20))
ImageDraw.Draw(picture).text((0, 0), 'a')
picture.save('a.png')
try:
    ImageFont.truetype('a font of nobody.ttf', 12)
except OSError:
    pass
""",
    "matplotlib": "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.savefig('a.pdf'); plt.show()",
    "polars": "import polars\npolars.scan_csv('table.csv').group_by('b').agg(polars.col('a').sum()).collect()",
    "joblib": "import joblib\njoblib.Parallel(n_jobs=2)(joblib.delayed(abs)(-i) for i in range(3)); joblib.cpu_count()",
    "tqdm": "import tqdm.auto\nfor _ in tqdm.auto.tqdm(range(3)): pass",
    "requests": "import requests\nrequests.Request('GET', 'http://example.com').prepare(); requests.Session()",
    "bs4": "import bs4\nbs4.BeautifulSoup('<p>a</p>', 'html.parser').p.text",
    "lxml": "import lxml.html\nlxml.html.fromstring('<a/>')",
    "plotly": "import plotly.express\nplotly.express.line(x=[1, 2], y=[1, 2])",
    "xarray": "import xarray\nxarray.DataArray([1, 2], dims='t').mean().item()",
    "numba": "import numba\nnumba.njit(lambda x: x + 1)(3)",
    "nltk": "import nltk\nnltk.FreqDist(nltk.tokenize.wordpunct_tokenize('a b a'))",
    "psutil": "import psutil\npsutil.cpu_count(), psutil.virtual_memory().total",
    "dask": "import dask.array\ndask.array.ones(10).sum().compute()",
}
ABOUT_THE_MACHINE = [
    "/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/proc/self/cgroup", "/proc/stat",
    "/proc/loadavg", "/proc/self/stat", "/etc/fonts/fonts.conf", "/usr/local/share/fonts",
]  # fmt: skip

# The same attempt, in ways that let a library do it.
ATTEMPTS = {
    "by a library": "import pandas; pandas.read_csv('/etc/passwd')",
    "by a callback of a library": "import pandas; pandas.Series(['/etc/passwd']).apply(open)",
    "by exec": "exec('open(\"/etc/passwd\")')",
    "by code that looks like a library's": "exec(compile('open(\"/etc/passwd\")', __import__('os').__file__, 'exec'))",
    "in parts": "import functools; functools.partial(open, '/etc/' + 'passwd')()",
    "in a thread": "import threading; (_ := threading.Thread(target=open, args=['/etc/passwd'])).start(); _.join()",
    "at the end of an object": "import weakref; weakref.finalize(lambda: 0, open, '/etc/passwd')()",
    "through a folder about the machine": "open('/sys/fs/cgroup/../../../etc/passwd')",
    "through its own process": "open('/proc/self/root/etc/passwd')",
    "through a link": "import os; os.symlink('/etc/passwd', 'cgroup'); open('cgroup')",
    "of another process": "import os; open(f'/proc/{os.getppid()}/stat')",
    "of its environment": "open('/proc/self/environ')",
    "of a list of files": "import os; os.listdir('/root')",
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxProcess]:
    process = SandboxProcess(FILES, Limits(cell=SECONDS))
    yield process
    process.close()


@pytest.mark.parametrize("package", LABS)
def test_take_denied_after_use_of_a_package_is_empty(package: str, sandbox: SandboxProcess) -> None:
    if importlib.util.find_spec(package) is None:
        skip(f"{package} is not installed: `make labs-installed` installs it")
    assert sandbox.run_cell(LABS[package], SECONDS).error == ""
    assert sandbox.take_denied() == []


@pytest.mark.parametrize("path", ABOUT_THE_MACHINE)
def test_take_denied_after_a_question_about_the_machine_is_empty(path: str, sandbox: SandboxProcess) -> None:
    sandbox.run_cell(f"open('{path}')", SECONDS)
    assert sandbox.take_denied() == []


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_take_denied_reports_an_attempt_through_a_library(attempt: str, sandbox: SandboxProcess) -> None:
    if "pandas" in ATTEMPTS[attempt] and importlib.util.find_spec("pandas") is None:
        pytest.skip("pandas is not installed")
    sandbox.run_cell(ATTEMPTS[attempt], SECONDS)
    assert "read" in [denied.kind for denied in sandbox.take_denied()]
