"""Lines and the control page, without torch."""

import json
import os
import random
import socket
import struct
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.getcwd(), 'python'))

from skerry import line  # noqa: E402


def pair(test):
    mine, theirs = socket.socketpair()
    test.addCleanup(mine.close)
    test.addCleanup(theirs.close)
    return mine, line.Connection(theirs), theirs


class CallTest(unittest.TestCase):
    def test_a_call_has_name_id_and_body(self):
        call = line.decode_call(
            b'{"call":"Load","id":7,"new":1,"body":{"ranges":[]}}')
        self.assertEqual(call, ('Load', 7, {'ranges': []}))
        self.assertEqual(line.decode_call(b'{"call":"Exit","id":1}').body, {})

    def test_what_is_no_call_is_broken(self):
        for bad in [b'', b'[]', b'7', b'{', b'\xff', b'{"id":1}',
                    b'{"call":"Run"}', b'{"call":7,"id":1}',
                    b'{"call":"Run","id":"1"}', b'{"call":"Run","id":0}',
                    b'{"call":"Run","id":true}',
                    b'{"call":"Run","id":18446744073709551616}',
                    b'{"call":"Run","id":1,"body":[]}', b'[' * 100000]:
            with self.assertRaises(line.BrokenLine, msg=bad[:40]):
                line.decode_call(bad)

    def test_no_bytes_do_more_than_break_the_line(self):
        seed = 1
        print(f'seed {seed}')
        drawn = random.Random(seed)
        good = (b'{"call":"Run","id":7,"body":{"ranges":[{"begin":"0",'
                b'"end":"96"}],"replicaBatchSamples":"8"}}')
        for _ in range(3000):
            bad = bytearray(good)
            for _ in range(drawn.randint(1, 6)):
                bad[drawn.randrange(len(bad))] = drawn.randrange(256)
            try:
                body = line.decode_call(bytes(bad)).body
                line.ranges(body, 'ranges')
                line.whole(body, 'replicaBatchSamples')
            except (line.BrokenLine, line.Refused):
                pass


class BodyTest(unittest.TestCase):
    def test_whole_numbers_are_text_numbers_or_missing(self):
        body = {'a': '18446744073709551615', 'b': 5}
        self.assertEqual([line.whole(body, name) for name in 'abc'],
                         [2**64 - 1, 5, 0])

    def test_other_numbers_are_refused_with_their_name(self):
        for bad in ['-1', '1.0', '', ' 1', '0x1', '18446744073709551616',
                    '9' * 5000, '\u0661', -1, 1.5, True, None, [], {}]:
            with self.assertRaisesRegex(line.Refused, '^size: ') as caught:
                line.whole({'size': bad}, 'size')
            self.assertEqual(caught.exception.code, 'INVALID_ARGUMENT')

    def test_ranges_are_in_order_and_not_empty(self):
        body = {'r': [{'end': '4'}, {'begin': '7', 'end': 7},
                      {'begin': '2', 'end': '3'}]}
        self.assertEqual(line.ranges(body, 'r'), [(0, 4), (2, 3)])
        for bad in [{}, 'a', [1], [{'begin': '2', 'end': '1'}]]:
            with self.assertRaises(line.Refused):
                line.ranges({'r': bad}, 'r')

    def test_floats_that_are_not_finite_are_text(self):
        self.assertEqual(
            [line.number(x) for x in (1, float('nan'), float('inf'),
                                      -float('inf'))],
            [1.0, 'NaN', 'Infinity', '-Infinity'])
        with self.assertRaises(ValueError):
            line.encode({'loss': float('nan')})


class ConnectionTest(unittest.TestCase):
    def test_lines_come_whole_however_they_were_cut(self):
        mine, connection, _ = pair(self)
        sent = b''.join(line.encode({'call': 'Load', 'id': n,
                                     'body': {'text': 'x' * n * 1000}})
                        for n in range(1, 100))

        def send():
            for at in range(0, len(sent), 777):
                mine.sendall(sent[at:at + 777])
            mine.close()
        sender = threading.Thread(target=send)
        sender.start()
        for n in range(1, 100):
            call = connection.next_call()
            self.assertEqual((call.id, len(call.body['text'])), (n, n * 1000))
        self.assertIsNone(connection.next_call())
        sender.join()

    def test_a_line_without_end_is_broken(self):
        mine, connection, _ = pair(self)
        most, line.LINE_BYTES_MAX = line.LINE_BYTES_MAX, 1000
        try:
            mine.sendall(b'x' * 1001)
            with self.assertRaisesRegex(line.BrokenLine, 'over 1000 bytes'):
                connection.next_call()
            with self.assertRaisesRegex(ValueError, 'at most 1000'):
                line.encode({'text': 'x' * 1000})
        finally:
            line.LINE_BYTES_MAX = most

    def test_answers_notes_and_hello_are_lines(self):
        mine, connection, theirs = pair(self)
        call = line.Call('Run', 9, {})
        connection.hello('skerry 1')
        connection.answer(call, {'samples': '4'})
        connection.refuse(call, 'INTERNAL', 'a\nb \u2603')
        connection.note('step', steps=3)
        theirs.close()
        got = b''
        while read := mine.recv(4096):
            got += read
        self.assertEqual([json.loads(one) for one in got.splitlines()], [
            {'hello': 1, 'package': 'skerry 1'},
            {'id': 9, 'body': {'samples': '4'}},
            {'id': 9, 'code': 'INTERNAL', 'error': 'a\nb \u2603'},
            {'note': 'step', 'steps': 3}])


class ControlPageTest(unittest.TestCase):
    def setUp(self):
        self.file = os.memfd_create('page')
        os.ftruncate(self.file, line.PAGE_BYTES)
        self.addCleanup(os.close, self.file)

    def pages(self, world):
        pages = [line.ControlPage(self.file, r, world) for r in range(world)]
        for page in pages:
            page.begin(line.Call('Run', 5, {}))
        return pages

    def want_stop(self, call):
        os.pwrite(self.file, struct.pack('=Q', call), 0)

    def test_one_rank_stops_at_its_next_step(self):
        page, = self.pages(1)
        self.assertFalse(page.stops(1))
        self.want_stop(4)  # an older call
        self.assertFalse(page.stops(1))
        self.want_stop(5)
        self.assertTrue(page.stops(2))

    def test_several_ranks_stop_after_the_step_that_rank_0_names(self):
        zero, one, two = self.pages(3)
        self.want_stop(5)
        # These have passed the step before rank 0 looked.
        self.assertFalse(one.stops(7))
        self.assertFalse(zero.stops(7))
        self.assertEqual(struct.unpack('=QQQ', os.pread(self.file, 24, 0)),
                         (5, 5, 8))
        self.assertFalse(two.stops(7))
        self.assertEqual([p.stops(8) for p in (one, two, zero)], [True] * 3)

    def test_a_later_call_is_not_stopped_by_an_earlier_one(self):
        zero, one = self.pages(2)
        self.want_stop(5)
        zero.stops(1)
        for page in (zero, one):
            page.begin(line.Call('Run', 6, {}))
            self.assertFalse(page.stops(3))


if __name__ == '__main__':
    unittest.main()
