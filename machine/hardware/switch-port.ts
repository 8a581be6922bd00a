/** The switch at which every NIC with a link has a port of its own, as LLDP announces it. */
export const SWITCH_CHASSIS = '02:00:5e:00:53:01'

/** Name of the switch's port of a NIC. @param index of the NIC among those of its machine, from 0 */
export const switchPort = (index: number): string => `Ethernet1/${index + 1}`
