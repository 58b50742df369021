"""Who may include whom, by example."""

import unittest

from tools.tidy import layers


class LayersTest(unittest.TestCase):

    def test_down_is_fine_and_up_is_not(self):
        for path, target, fine in [
                ('planner/x.h', 'base/ids.h', True),
                ('base/ids.h', 'planner/x.h', False),
                ('coordinator/core/x.cc', 'planner/x.h', True),
                ('coordinator/core/x.cc', 'coordinator/convert/x.h', False),
                ('coordinator/core/x.cc', 'runtime/event_loop.h', False),
                ('coordinator/service/x.cc', 'runtime/event_loop.h', True),
                ('coordinator/service/x.cc', 'coordinator/main/x.h', False),
                ('transport/grpc/x.cc', 'runtime/executor.h', True),
                ('transport/link.h', 'runtime/executor.h', True),
                ('runtime/executor.h', 'transport/link.h', False),
                ('model/cuda/x.cu', 'model/exec/x.h', True),
                ('model/exec/x.cc', 'model/cuda/x.h', False),
                ('cli/x.cc', 'tests/sim/x.h', False),
                ('cli/x.cc', 'simulator/x.h', True),
                ('simulator/x.h', 'worker/daemon/x.h', True),
                ('worker/daemon/x.cc', 'simulator/x.h', False),
                ('simulator/x.h', 'tests/sim/x.h', False),
                ('tests/sim/x.cc', 'worker/main/x.h', True)]:
            self.assertEqual(layers.why_not(path, target) is None, fine,
                             (path, target))

    def test_layer_one_looks_sideways_from_the_planner_and_the_job(self):
        for path, target, fine in [
                ('job/review.cc', 'model/spec/model_config.h', True),
                ('job/review.cc', 'model/exec/run.h', False),
                ('job/codec_review.cc', 'planner/codec_menu.h', True),
                ('job/codec_review.cc', 'compression/cpu/int8.h', False),
                ('planner/codec_menu.cc', 'job/job_spec.h', False),
                ('worker/convert/x.cc', 'job/convert/job_spec.h', True),
                ('worker/convert/x.cc', 'trainer/convert/x.h', False),
                ('worker/core/x.cc', 'job/job_spec.h', True),
                ('planner/search/x.cc', 'model/spec/graph.h', True),
                ('planner/search/x.cc', 'model/exec/run.h', False),
                ('planner/search/x.cc', 'compression/codec.h', True),
                ('planner/search/x.cc', 'compression/cpu/int8.h', False),
                ('planner/search/x.cc', 'data/order.h', False),
                ('compression/codec.h', 'model/spec/graph.h', False),
                ('optimizer/inner/adam.h', 'compression/codec.h', False),
                ('data/order.h', 'model/spec/graph.h', False),
                ('model/exec/run.h', 'model/spec/graph.h', True),
                ('trainer/core/x.h', 'model/exec/run.h', True),
                ('trainer/core/x.h', 'optimizer/inner/adam.h', True)]:
            self.assertEqual(layers.why_not(path, target) is None, fine,
                             (path, target))

    def test_rooms_of_the_core_look_down(self):
        for path, target, fine in [
                ('coordinator/core/rules/x.cc', 'coordinator/core/log/y.h',
                 True),
                ('coordinator/core/views/x.cc', 'coordinator/core/state/y.h',
                 True),
                ('coordinator/core/cluster.cc', 'coordinator/core/views/y.h',
                 True),
                ('coordinator/core/log/x.cc', 'coordinator/core/state/y.h',
                 False),
                ('coordinator/core/state/x.cc', 'coordinator/core/rules/y.h',
                 False),
                ('coordinator/core/rules/x.cc', 'coordinator/core/views/y.h',
                 False),
                ('coordinator/core/rules/x.cc', 'coordinator/core/cluster.h',
                 False),
                ('coordinator/core/rules/x_test.cc',
                 'coordinator/core/views/y.h', True)]:
            self.assertEqual(layers.why_not(path, target) is None, fine,
                             (path, target))

    def test_operators_stay_behind_the_trainer_seam(self):
        self.assertTrue(
            layers.why_not('worker/core/x.h', 'model/exec/run.h'))
        self.assertTrue(
            layers.why_not('worker/daemon/x.h', 'model/cpu/gemm.h'))
        self.assertIsNone(
            layers.why_not('worker/core/x.h', 'model/spec/graph.h'))

    def test_roles_do_not_meet(self):
        self.assertTrue(layers.why_not('worker/daemon/x.cc',
                                       'coordinator/core/x.h'))

    def test_tests_see_everything_and_nobody_else_sees_test_code(self):
        self.assertIsNone(layers.why_not('base/x_test.cc', 'planner/x.h'))
        self.assertTrue(layers.why_not('cli/x.cc', 'trainer/testing/x.h'))
        self.assertIsNone(
            layers.why_not('bench/cluster/x.cc', 'tests/sim/cluster.h'))


if __name__ == '__main__':
    unittest.main()
