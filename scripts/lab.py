# SPDX-License-Identifier: GPL-2.0
#
# For kunit.py of any kernel tree: its tests run on the lab's QEMU, on a CPU with a PMU.
# With PMU=version=2,gp=4 in the environment it is another PMU, as for scripts/vm --pmu.
#
# Example: tools/testing/kunit/kunit.py run --arch=x86_64 --qemu_config=/path/to/lab.py
import os
import subprocess
import sys

from qemu_config import QemuArchParams

HERE = os.path.dirname(os.path.realpath(__file__))


def lab(*command):
    """What one of the lab's commands prints; what it has to say of its own is said."""
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(result.returncode)
    return result.stdout.strip()


QEMU = lab(f'{HERE}/lab-qemu')
# kunit.py looks for qemu-system-x86_64 in PATH.
os.environ['PATH'] = QEMU + os.pathsep + os.environ['PATH']
CPU = lab('bash', '-c', 'source "$0"; words=$(pmu_properties "$1"); echo "$default_cpu$words"',
          f'{HERE}/lib.sh', os.environ.get('PMU', 'version=4'))

QEMU_ARCH = QemuArchParams(linux_arch='x86_64',
                           kconfig='''
CONFIG_SERIAL_8250=y
CONFIG_SERIAL_8250_CONSOLE=y''',
                           qemu_arch='x86_64',
                           kernel_path='arch/x86/boot/bzImage',
                           kernel_command_line='console=ttyS0',
                           extra_qemu_params=['-cpu', CPU, '-L', f'{QEMU}/share'])
