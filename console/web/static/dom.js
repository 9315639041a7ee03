// Elements without markup: the only way in which this page makes them. Text becomes text nodes, always.

import { visible } from './visible.js'

/**
 * el makes an element: el('p.note', {title: 't', data: {seq: 3}, on: {click: f}}, 'text', child, …).
 * Children are nodes or text; null, false and undefined are left out. Text is made visible.
 * @param {string} what tag and classes
 * @param {object} [props] attributes; data, on and the properties hidden, disabled, checked, value apart
 * @param {...(Node|string|number|null|false|undefined|Array)} children
 * @returns {HTMLElement}
 */
export function el(what, props, ...children) {
  const [tag, ...classes] = what.split('.')
  const e = document.createElement(tag)
  if (classes.length > 0) e.className = classes.join(' ')
  for (const name in props) {
    const value = props[name]
    if (value === undefined || value === null || value === false) continue
    if (name === 'data') setData(e, value)
    else if (name === 'on') for (const type in value) e.addEventListener(type, value[type])
    else if (properties.has(name)) e[name] = value
    else e.setAttribute(name, value === true ? '' : String(value))
  }
  put(e, children)
  return e
}

const properties = new Set(['hidden', 'disabled', 'checked', 'value', 'tabIndex', 'open'])

/** setData sets data- attributes; null, undefined and false remove them. */
export function setData(e, data) {
  for (const name in data) {
    const value = data[name]
    if (value === undefined || value === null || value === false) delete e.dataset[name]
    else {
      const text = value === true ? '' : String(value)
      if (e.dataset[name] !== text) e.dataset[name] = text
    }
  }
}

/** put appends children as el does. */
export function put(e, children) {
  for (const c of Array.isArray(children) ? children : [children]) {
    if (c === null || c === undefined || c === false) continue
    if (Array.isArray(c)) put(e, c)
    else if (c instanceof Node) e.append(c)
    else text(e, String(c))
  }
}

/** text appends text; characters that nobody sees stand out. */
export function text(e, s) {
  const parts = visible(s)
  if (typeof parts === 'string') {
    e.append(document.createTextNode(parts))
    return
  }
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] === '') continue
    if (i % 2 === 0) e.append(document.createTextNode(parts[i]))
    else {
      const c = document.createElement('span')
      c.className = 'unseen'
      c.append(document.createTextNode(parts[i]))
      e.append(c)
    }
  }
}

/** svg makes an icon of one path, 16 × 16, that says nothing to those who do not see it. */
export function icon(path) {
  const s = document.createElementNS(svgSpace, 'svg')
  for (const [name, value] of [['viewBox', '0 0 16 16'], ['class', 'icon'], ['aria-hidden', 'true'], ['focusable', 'false']]) s.setAttribute(name, value)
  const p = document.createElementNS(svgSpace, 'path')
  p.setAttribute('d', path)
  s.append(p)
  return s
}

const svgSpace = 'http://www.w3.org/2000/svg'

/** button makes a button that does one thing, by its name. */
export function button(action, label, run, ...children) {
  return el('button', { type: 'button', 'aria-label': children.length > 0 ? label : undefined, title: label, data: { action }, on: { click: run } }, ...(children.length > 0 ? children : [label]))
}

/** clear takes all children away. */
export function clear(e) {
  e.replaceChildren()
  return e
}
