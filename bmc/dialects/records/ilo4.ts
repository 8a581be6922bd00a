import { dialectFrom } from '../dialect.js'
import { ILO5 } from './ilo5.js'

/**
 * From reports (community.general redfish_utils.py virtual_media_insert_via_patch; ansible-collections/community.general#4595;
 * sushy's release notes on Gen9), and otherwise as iLO 5.
 */
export const ILO4 = dialectFrom(ILO5, {
  description: 'HPE iLO 4 of Gen9',
  basis: 'reports',
  model: 'ProLiant DL360 Gen9',
  service: {
    product: 'ProLiant DL360 Gen9',
    oem: 'Hp',
    redfishVersion: '1.0.0',
  },
  media: {
    insertBy: 'patch',
    // A PATCH has Image alone: Inserted is answered by PropertyUnknown.
    refused: ['Inserted', 'WriteProtected', 'TransferMethod', 'TransferProtocolType', 'UserName', 'Password'],
  },
  boot: {
    mode: 'absent',
  },
  etags: {
    // Ansible sends a tag as it is, and its PATCH was taken (community.general#4595).
    match: 'any',
  },
  errors: {
    base: 'Base.0.10',
  },
})
