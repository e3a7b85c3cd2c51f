"""Puts ranks on the workers of a cluster in this process, if PANTILE_TEST_WORKERS says how many."""

import os

from pantile import _core

#: The cluster; it ends with this process.
SITE = None
if os.environ.get("PANTILE_TEST_WORKERS"):
    SITE = _core.LocalCluster(int(os.environ["PANTILE_TEST_WORKERS"]))
    os.environ["PANTILE_CLUSTER"] = SITE.address
