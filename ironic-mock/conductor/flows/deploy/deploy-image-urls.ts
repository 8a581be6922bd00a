/** URLs of the images that a node's ramdisk boots from. */
export type DeployImages =
  | { iso: string }
  | {
      kernel: string
      ramdisk: string
      /** Kernel parameters of these images, after the configured ones. */
      append?: string
    }
