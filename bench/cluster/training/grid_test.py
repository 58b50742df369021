"""Each cell of the grid is one job, known by all that determines it."""

import unittest

from bench.cluster.training import grid
from bench.cluster.training import methods

AXES = grid.Axes(methods.NAMES, grid.REPLICAS, grid.TAUS, grid.OPTIMIZERS,
                 grid.RATES, (1, 2), grid.STARTS, 0.25, 960)


def some(**changes):
    return AXES._replace(**changes)


def keys(cells):
    return [grid.key(grid.facts(cell)) for cell in cells]


class CellsTest(unittest.TestCase):

    def test_no_two_cells_are_the_same_work(self):
        found = keys(grid.cells(AXES))
        self.assertEqual(len(found), len(set(found)))

    def test_the_synchronous_run_is_there_once_and_first(self):
        cells = grid.cells(some(seeds=(1,), starts=('scratch',),
                                optimizers=('adamw',)))
        alone = [cell for cell in cells if cell.method == 'synchronous']
        self.assertEqual(len(alone), len(grid.RATES))
        self.assertEqual(cells[:len(alone)], alone)

    def test_a_seed_is_finished_before_the_next_begins(self):
        order = [(cell.seed, cell.method != 'synchronous', cell.tau,
                  cell.replicas) for cell in grid.cells(AXES)]
        # assertEqual would compare the lists line by line for minutes.
        self.assertTrue(order == sorted(order))

    def test_one_replica_that_averages_is_the_synchronous_run(self):
        self.assertNotIn(('local_sgd', 1), {
            (cell.method, cell.replicas) for cell in grid.cells(AXES)})

    def test_a_method_is_trained_with_its_own_inner_optimizer_only(self):
        cells = grid.cells(some(methods=('muloco', 'diloco')))
        self.assertEqual({cell.optimizer for cell in cells
                          if cell.method == 'muloco'}, {'muon'})
        self.assertEqual({cell.optimizer for cell in cells
                          if cell.method == 'diloco'}, {'adamw', 'muon'})

    def test_links_are_emulated_only_where_their_rate_matters(self):
        shares = {}
        for cell in grid.cells(AXES):
            waits = not methods.delayed(grid.setting(cell))
            shares.setdefault((waits, cell.replicas == 1), set()).add(
                cell.exchange)
        self.assertEqual(shares, {(True, True): {0}, (True, False): {0},
                                  (False, True): {0}, (False, False): {0.25}})

    def test_every_cell_has_the_tokens_and_the_batch_of_all(self):
        for cell in grid.cells(some(seeds=(1,))):
            training = grid.spec(cell, '/data', '/checkpoint')['training']
            self.assertEqual(training['samples'], 960 * grid.GLOBAL_BATCH)
            self.assertEqual(training['batch_samples'] * cell.replicas,
                             grid.GLOBAL_BATCH)
            self.assertEqual(960 % cell.tau, 0)


class KeyTest(unittest.TestCase):

    CELL = grid.Cell('late', 'preset', 2, 12, 'adamw', 4e-3, 1, 'scratch', 0.25,
                     960)

    def test_every_field_of_a_cell_is_in_its_key(self):
        other = {'method': 'co2', 'setting': 'points_12', 'replicas': 4,
                 'tau': 48, 'optimizer': 'muon', 'rate': 2e-3, 'seed': 2,
                 'start': 'trained', 'exchange': 0.5, 'steps': 192}
        self.assertEqual(set(other), set(grid.Cell._fields))
        cells = [self.CELL, *(self.CELL._replace(**{name: value})
                              for name, value in other.items())]
        self.assertEqual(len(set(keys(cells))), len(cells))

    def test_a_setting_that_means_something_else_now_is_another_cell(self):
        facts = grid.facts(self.CELL)
        before = grid.key(facts)
        facts['job'] = {**facts['job'], 'outer': {'method': 'late',
                                                  'apply_points': 3}}
        self.assertNotEqual(grid.key(facts), before)

    def test_the_checkpoint_to_go_on_from_is_in_the_key(self):
        trained = self.CELL._replace(start='trained')
        facts = grid.facts(trained)
        before = grid.key(facts)
        facts['trained'] = {**facts['trained'], 'model': None}
        self.assertNotEqual(grid.key(facts), before)

    def test_what_was_measured_is_not_in_the_key(self):
        facts = grid.facts(self.CELL)
        self.assertEqual(grid.key({**facts, 'loss': 1.0, 'took_s': 3}),
                         grid.key(facts))

    def test_eager_keeps_a_share_of_one_replica(self):
        for replicas in (2, 4, 8):
            cell = self.CELL._replace(method='eager', setting='points_1',
                                      replicas=replicas)
            self.assertEqual(grid.spec(cell, '/d')['outer']['own_share'],
                             1 / replicas)

    def test_a_cell_from_a_checkpoint_trains_on_all_of_its_samples(self):
        job = grid.spec(self.CELL._replace(start='trained'), '/d', '/c')
        self.assertEqual(job['model']['checkpoint'], {
            'path': '/c', 'name': 'newest', 'samples': 'anew'})
        made = grid.trained_spec(960, '/d', '/c')
        self.assertEqual(made['checkpoint']['directory'], '/c')
        self.assertNotIn(made['data']['seed'], grid.SEEDS)


if __name__ == '__main__':
    unittest.main()
