"""How many blocks a suite uses under each heading of a guide: all of them.

The suites refuse to use a block that is not here, and fail at their end if they
have not used one that is. guide_blocks_test.py compares this with the guides.
"""

# tests/integration/kubernetes
KUBERNETES = {
    'Build the images': 1,
    'Install the chart': 1,
    'With kustomize instead': 1,
    'Become an operator': 4,
    'Look at the page': 1,
    'Let the workers in': 1,
    'Test the installation': 1,
    'Train': 2,
    'Change the installation': 1,
    'Take a node out': 1,
    'Programs of your own': 3,
    'Remove': 2,
}
# tests/integration/deploy
VM = {
    'Build the packages': 1,
    'Install the packages': 1,
    'Make the cluster': 1,
    'Make a token': 1,
    'Start the worker': 1,
    'See that it works': 1,
    'Upgrade': 1,
    'Remove': 1,
}
