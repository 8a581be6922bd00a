import type { BmcDialect } from './dialect.js'
import type { DialectName } from './dialect-name.js'
import { AMI } from './records/ami.js'
import { CIMC } from './records/cimc.js'
import { HUAWEI } from './records/huawei.js'
import { IDRAC10 } from './records/idrac10.js'
import { IDRAC8 } from './records/idrac8.js'
import { IDRAC9 } from './records/idrac9.js'
import { ILO4 } from './records/ilo4.js'
import { ILO5 } from './records/ilo5.js'
import { ILO6 } from './records/ilo6.js'
import { ILO7 } from './records/ilo7.js'
import { IRMC } from './records/irmc.js'
import { NVIDIA_DGX } from './records/nvidia-dgx.js'
import { NVIDIA_GB200 } from './records/nvidia-gb200.js'
import { OPENBMC } from './records/openbmc.js'
import { STANDARD } from './records/standard.js'
import { SUPERMICRO_X10 } from './records/supermicro-x10.js'
import { SUPERMICRO_X11 } from './records/supermicro-x11.js'
import { SUPERMICRO_X12 } from './records/supermicro-x12.js'
import { SUPERMICRO_X13 } from './records/supermicro-x13.js'
import { SUPERMICRO_X14 } from './records/supermicro-x14.js'
import { XCC } from './records/xcc.js'
import { XCC3 } from './records/xcc3.js'

/** The dialects of BMCs, by the names that hardware files use. */
export const BMC_DIALECTS = {
  standard: STANDARD,
  idrac8: IDRAC8,
  idrac9: IDRAC9,
  idrac10: IDRAC10,
  ilo4: ILO4,
  ilo5: ILO5,
  ilo6: ILO6,
  ilo7: ILO7,
  'supermicro-x10': SUPERMICRO_X10,
  'supermicro-x11': SUPERMICRO_X11,
  'supermicro-x12': SUPERMICRO_X12,
  'supermicro-x13': SUPERMICRO_X13,
  'supermicro-x14': SUPERMICRO_X14,
  xcc: XCC,
  xcc3: XCC3,
  ami: AMI,
  openbmc: OPENBMC,
  'nvidia-gb200': NVIDIA_GB200,
  'nvidia-dgx': NVIDIA_DGX,
  cimc: CIMC,
  irmc: IRMC,
  huawei: HUAWEI,
} as const satisfies Readonly<Record<DialectName, BmcDialect>>

export const isDialectName = (name: string): name is DialectName => Object.hasOwn(BMC_DIALECTS, name)
