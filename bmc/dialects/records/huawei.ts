import { dialectFrom } from '../dialect.js'
import { STANDARD } from './standard.js'

/** From reports (ansible/ansible#60031; sushy's release note retry-on-missing-managedby). */
export const HUAWEI = dialectFrom(STANDARD, {
  description: 'Huawei iBMC, from reports',
  basis: 'reports',
  manufacturer: 'Huawei',
  model: '2288H V5',
  paths: {
    system: '1',
    manager: '1',
    chassis: '1',
  },
  service: {
    vendor: null,
    product: null,
    oem: 'Huawei',
  },
  properties: {
    // sushy looks for it where ManagedBy is missing.
    renamed: {
      'ComputerSystem.Links.ManagedBy': 'Managers',
    },
  },
  etags: {
    without: 'refused',
    withoutStatus: 412,
  },
})
