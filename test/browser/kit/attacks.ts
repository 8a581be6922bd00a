/** Texts that a page would run, load or draw if it took them for markup. */
export const ATTACKS = [
  '<script>window.struck=1</script>',
  '<img src=x onerror="window.struck=1">',
  '"><svg onload=window.struck=1>',
  "';window.struck=1;//",
  '<a href="javascript:window.struck=1">click</a>',
  '{{constructor.constructor("window.struck=1")()}}',
  '</title></textarea><iframe srcdoc="<script>parent.struck=1</script>">',
  '\u001b]0;x\u0007\u202e<b>bold</b>\u0000',
]

/** The same for places that refuse NUL. */
export const TEXT_ATTACKS = ATTACKS.map((attack) => attack.replaceAll('\u0000', ''))
