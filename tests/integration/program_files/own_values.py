"""The point of trainer/attach, which begins with other values at each start."""

import json
import os
import random
import runpy

job = json.loads(os.environ['SKERRY_JOB'])
job['seed'] = random.SystemRandom().getrandbits(32)
os.environ['SKERRY_JOB'] = json.dumps(job)
runpy.run_path(os.path.join(
    os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'trainer',
    'attach', 'testing', 'quadratic_rank.py'), run_name='__main__')
