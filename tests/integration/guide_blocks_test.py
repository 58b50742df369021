"""Every block of the guides is typed by a suite, with or without a cluster."""

import pathlib
import unittest

from tests.integration import guide_blocks
from tools.local_cluster import readme

_GUIDES = pathlib.Path('docs', 'guides')


def _counts(name):
    page = _GUIDES.joinpath(name).read_text(encoding='utf-8')
    return {heading: len(found)
            for heading, found in readme.blocks(page).items()}


class GuideBlocksTest(unittest.TestCase):

    def test_a_suite_uses_every_block_of_the_guide_to_kubernetes(self):
        self.assertEqual(_counts('kubernetes.md'), guide_blocks.KUBERNETES)

    def test_a_suite_uses_every_block_of_the_guide_to_machines(self):
        self.assertEqual(_counts('vm.md'), guide_blocks.VM)


if __name__ == '__main__':
    unittest.main()
