// Tells the platform that a registration is complete.
(window.opener || window.parent).postMessage({ subject: "org.imsglobal.lti.close" }, "*");
