// The theme without the fonts that it brings: a reader's own are there at once.
import theme from 'vitepress/theme-without-fonts'
import './style.css'

export default theme
