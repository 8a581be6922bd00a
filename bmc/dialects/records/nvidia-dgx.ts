import { dialectFrom } from '../dialect.js'
import { AMI } from './ami.js'

/** From a dump of a DGX H100, AMI 23.11 (NVIDIA/libredfish, tests/mockups/nvidia_viking): it has no virtual media. */
export const NVIDIA_DGX = dialectFrom(AMI, {
  description: 'NVIDIA DGX H100 (AMI)',
  manufacturer: 'NVIDIA',
  model: 'DGXH100',
  paths: {
    system: 'DGX',
    manager: 'BMC',
    chassis: 'DGX',
  },
  media: {
    slots: [],
  },
})
