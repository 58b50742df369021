"""A CA made with openssl, as one from elsewhere, and identities of it."""

import os
import subprocess


def _openssl(*arguments, text=None):
    subprocess.run(['openssl', *arguments], check=True,
                   input=text.encode() if text else None,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _key(path):
    _openssl('genpkey', '-algorithm', 'EC', '-pkeyopt',
             'ec_paramgen_curve:P-256', '-out', path)


class Authority:
    """Its files are in `directory`."""

    def __init__(self, directory, cluster):
        os.makedirs(directory, exist_ok=True)
        self._directory, self._cluster = directory, cluster
        self.ca = self._path('ca.pem')
        _key(self._path('ca.key'))
        _openssl('req', '-x509', '-new', '-key', self._path('ca.key'),
                 '-days', '30', '-subj', f'/CN={cluster}', '-out', self.ca)
        self._serial = 0

    def _path(self, name):
        return os.path.join(self._directory, name)

    def write(self, folder, who, days=2):
        """Writes an identity of `who`, as 'island/west/worker/w1', to a folder.

        Days below zero: it has expired. Returns the serial number.
        """
        os.makedirs(folder, exist_ok=True)
        self._serial += 1
        made = os.path.join(folder, f'new-{self._serial}')
        _key(made + '.key')
        _openssl('req', '-new', '-key', made + '.key', '-subj', '/CN=skerry',
                 '-out', made + '.csr')
        with open(made + '.ext', 'w', encoding='ascii') as file:
            file.write('subjectAltName=DNS:skerry,'
                       f'URI:spiffe://{self._cluster}/{who}\n'
                       'basicConstraints=critical,CA:FALSE\n')
        _openssl('x509', '-req', '-in', made + '.csr', '-CA', self.ca,
                 '-CAkey', self._path('ca.key'), '-days', str(days),
                 '-set_serial', str(0x1000 + self._serial),
                 '-extfile', made + '.ext', '-out', made + '.crt')
        with open(self.ca, encoding='ascii') as file:
            ca = file.read()
        with open(made + '.crt', 'a', encoding='ascii') as file:
            file.write(ca)
        with open(os.path.join(folder, 'ca.pem'), 'w',
                  encoding='ascii') as file:
            file.write(ca)
        os.replace(made + '.key', os.path.join(folder, 'key.pem'))
        os.replace(made + '.crt', os.path.join(folder, 'cert.pem'))
        for end in ('.csr', '.ext'):
            os.remove(made + end)
        return f'{0x1000 + self._serial:X}'
