"""Daemons of a cluster do not fight for a port."""

import unittest

from tools.local_cluster import ports

# The kernel names one again within some hundred draws.
_DRAWS = 2000


class PortsTest(unittest.TestCase):

    def test_no_port_is_given_twice(self):
        drawn = [ports.free_port() for _ in range(_DRAWS)]
        self.assertEqual(len(set(drawn)), _DRAWS)


if __name__ == '__main__':
    unittest.main()
