/** URLs of the images that a node's ramdisk boots from. */
export type DeployImages =
  | { iso: string }
  | {
      kernel: string
      ramdisk: string
      /** Kernel parameters that belong to these images, after those that are configured. */
      append?: string
    }
