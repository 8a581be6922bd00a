/** A switch port as another description names it. */
export interface FoundNeighbour {
  readonly chassis?: string | undefined
  readonly port?: string | undefined
  readonly name?: string | undefined
  readonly portDescription?: string | undefined
  /** By which the network operating system is recognized. */
  readonly systemDescription?: string | undefined
  readonly untaggedVlan?: number | undefined
  readonly vlans?: readonly { readonly id: number; readonly name?: string | undefined }[] | undefined
  readonly mtu?: number | undefined
  readonly managementAddresses?: readonly string[] | undefined
}

/** A NIC as another description has it; its values need not fit a hardware file. */
export interface FoundNic {
  readonly name?: string | undefined
  readonly mac?: string | undefined
  /** Null for a NIC that has none. */
  readonly ipv4?: string | null | undefined
  readonly carrier?: boolean | undefined
  readonly pxe?: boolean | undefined
  readonly driver?: string | undefined
  /** Null for a port that was listened to and sent nothing. */
  readonly lldp?: FoundNeighbour | null | undefined
}

/** A disk as another description has it; its values need not fit a hardware file. */
export interface ImportedDisk {
  /** Kernel name, with or without /dev. */
  readonly name?: string | undefined
  /** Bytes. */
  readonly size?: number | undefined
  readonly serial?: string | undefined
  readonly model?: string | undefined
  readonly vendor?: string | undefined
  readonly wwn?: string | undefined
  readonly wwnExtension?: string | undefined
  readonly hctl?: string | undefined
  /** Name in /dev/disk/by-path, with or without the folder. */
  readonly byPath?: string | undefined
  readonly rotational?: boolean | undefined
  readonly transport?: string | undefined
  /** Bytes. */
  readonly sectorSize?: number | undefined
}

/** A machine as another description has it. */
export interface FoundMachine {
  /** `NAMESPACE/NAME` of its BareMetalHost. */
  readonly host?: string | undefined
  readonly firmware?: string | undefined
  readonly architecture?: string | undefined
  readonly cpus?: number | undefined
  readonly memoryMib?: number | undefined
  readonly manufacturer?: string | undefined
  readonly product?: string | undefined
  readonly serial?: string | undefined
  readonly hostname?: string | undefined
  readonly nics: readonly FoundNic[]
  readonly disks: readonly ImportedDisk[]
}

/** Machines of one description, and sentences on what its form lacks. */
export interface FoundMachines {
  /** As in `an Ironic inventory`. */
  readonly format: string
  readonly machines: readonly FoundMachine[]
  readonly notes: readonly string[]
}
