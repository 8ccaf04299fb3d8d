/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/my_pmu: samples, and what is counted. */
#ifndef MY_PMU_DEVICE_H
#define MY_PMU_DEVICE_H

extern struct miscdevice my_device;

#endif
