// Elements as values, and the changes that make a document show them. Elements
// that are there are reused, so focus, selection and scrolling stay.

const SVG = 'http://www.w3.org/2000/svg';

// An element. Attributes that are null, undefined or false are left out; those
// that are functions are handlers (`onclick`), and `key` names the element
// among its siblings. Children are elements, texts, or lists of both; null,
// undefined and false are left out.
export function h(tag, attributes, ...children) {
  const {key, ...rest} = attributes ?? {};
  return {tag, key, attributes: rest, children: flat(children)};
}

function flat(children) {
  return children.flat(Infinity)
      .filter((child) => child !== null && child !== undefined &&
                         child !== false && child !== '')
      .map((child) => typeof child === 'object' ? child : String(child));
}

// Makes the children of `parent` those that are wanted.
export function show(parent, ...wanted) {
  let at = parent.firstChild;
  const keyed = new Map();
  for (let node = at; node; node = node.nextSibling) {
    if (node.skerryKey !== undefined) keyed.set(node.skerryKey, node);
  }
  for (const value of flat(wanted)) {
    let node = at;
    if (value.key !== undefined) {
      node = keyed.get(value.key) ?? null;
    } else if (node?.skerryKey !== undefined) {
      node = null;
    }
    if (node === null || !fits(node, value)) node = make(parent, value);
    if (node === at) {
      at = at.nextSibling;
    } else {
      parent.insertBefore(node, at);
    }
    fill(node, value);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

function fits(node, value) {
  if (typeof value === 'string') return node.nodeType === Node.TEXT_NODE;
  return node.localName === value.tag;
}

function make(parent, value) {
  if (typeof value === 'string') return document.createTextNode(value);
  const inside = parent.namespaceURI === SVG || value.tag === 'svg';
  const node = inside ? document.createElementNS(SVG, value.tag) :
                        document.createElement(value.tag);
  if (value.key !== undefined) node.skerryKey = value.key;
  return node;
}

function fill(node, value) {
  if (typeof value === 'string') {
    if (node.data !== value) node.data = value;
    return;
  }
  const set = node.skerrySet ?? {};
  for (const name of Object.keys(set)) {
    if (!(name in value.attributes)) setOne(node, name, null);
  }
  for (const [name, wanted] of Object.entries(value.attributes)) {
    if (set[name] !== wanted) setOne(node, name, wanted);
  }
  node.skerrySet = value.attributes;
  show(node, value.children);
}

function setOne(node, name, wanted) {
  const none = wanted === null || wanted === undefined || wanted === false;
  if (name.startsWith('on')) {
    node[name] = none ? null : wanted;
  } else if (name === 'value') {
    // What somebody is typing stays.
    if (node !== document.activeElement) node.value = none ? '' : wanted;
  } else if (none) {
    node.removeAttribute(name);
  } else {
    node.setAttribute(name, wanted === true ? '' : wanted);
  }
}
