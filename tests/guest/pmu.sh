# SPDX-License-Identifier: GPL-2.0
# What a PMU list for scripts/vm --pmu describes, from the list alone: the
# tests compare with it what software found.
# shellcheck shell=dash disable=SC2034 # whoever sources this uses them

# trailing_ones NUMBER
trailing_ones() {
	trailing_left=$1
	trailing_count=0
	while [ $((trailing_left & 1)) = 1 ]; do
		trailing_left=$((trailing_left >> 1))
		trailing_count=$((trailing_count + 1))
	done
	echo $trailing_count
}

# hex NUMBER: 16 digits, as the kernel prints masks
hex() {
	printf '%016x' "$1"
}

# ones N: a mask of the N lowest bits, 63 at most
ones() {
	echo $(((1 << $1) - 1))
}

# weight MASK: how many bits are set
weight() {
	weight_left=$1
	weight_count=0
	while [ "$weight_left" != 0 ]; do
		weight_left=$((weight_left & (weight_left - 1)))
		weight_count=$((weight_count + 1))
	done
	echo $weight_count
}

# pmu_from LIST: sets version gp (EAX[15:8]) gp_bitmap (every generic counter there is)
# width fixed (EDX[4:0]) fixed_width bitmap (every fixed counter there is) ebx ebx_length
# full_width pdcm hypervisor. The defaults are the model's.
pmu_from() {
	version=4 gp='' gp_bitmap='' width=48 fixed='' fixed_width='' bitmap='' ebx=0x58 ebx_length=7
	full_width=on pdcm=on hypervisor=on
	pmu_ifs=$IFS
	IFS=,
	for pmu_word in $1; do
		pmu_value=${pmu_word#*=}
		case $pmu_word in
		off) version=0 ;;
		version=*) version=$pmu_value ;;
		gp=*) gp=$pmu_value ;;
		gp-bitmap=*) gp_bitmap=$((pmu_value)) ;;
		width=*) width=$pmu_value ;;
		fixed=*) fixed=$pmu_value ;;
		fixed-width=*) fixed_width=$pmu_value ;;
		fixed-bitmap=*) bitmap=$pmu_value ;;
		ebx=*) ebx=$pmu_value ;;
		ebx-length=*) ebx_length=$pmu_value ;;
		full-width=*) full_width=$pmu_value ;;
		pdcm=*) pdcm=$pmu_value ;;
		hypervisor=*) hypervisor=$pmu_value ;;
		acr=* | reload=*) ;;
		*)
			echo "Bail out! pmu_from does not know $pmu_word"
			exit 1
			;;
		esac
	done
	IFS=$pmu_ifs
	if [ -z "$gp" ] && [ -n "$gp_bitmap" ]; then
		gp=$(weight "$gp_bitmap")
	fi
	: "${gp:=8}"
	: "${gp_bitmap:=$(ones "$gp")}"
	if [ "$version" -lt 2 ]; then
		fixed=0 bitmap=0
	fi
	if [ -z "$fixed" ] && [ -n "$bitmap" ]; then
		fixed=$(trailing_ones "$bitmap")
	fi
	: "${fixed:=3}" "${fixed_width:=$width}"
	: "${bitmap:=$(ones "$fixed")}"
}

has_fixed() {
	[ $((bitmap >> $1 & 1)) = 1 ]
}

# has_event BIT: of CPUID.0AH:EBX
has_event() {
	[ "$1" -lt "$ebx_length" ] && [ $((ebx >> $1 & 1)) = 0 ]
}
