# SPDX-License-Identifier: GPL-2.0
#
# For kunit.py: the lab's QEMU for RISC-V, which is Debian's and in PATH, with its OpenSBI, which
# QEMU finds by -L. The kernel's own configuration wants it where it is installed.
#
# Example: scripts/kunit --arch riscv64
from qemu_config import QemuArchParams

QEMU_ARCH = QemuArchParams(linux_arch='riscv',
                           kconfig='''
CONFIG_ARCH_VIRT=y
CONFIG_SERIAL_8250=y
CONFIG_SERIAL_8250_CONSOLE=y
CONFIG_SERIAL_OF_PLATFORM=y''',
                           qemu_arch='riscv64',
                           kernel_path='arch/riscv/boot/Image',
                           kernel_command_line='console=ttyS0',
                           extra_qemu_params=['-machine', 'virt', '-cpu', 'rv64'])
