"""The names that forms commonly give to their questions, in Spanish, English, Portuguese, and some other languages.

All are compared without case, accents, blanks and punctuation (`leaves.folded`).
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES: Mapping[str, str] = {
    "name": """
        name fullname yourname contactname customername nombre nombres nombrecompleto nombreyapellido nombreyapellidos
        nombresyapellidos nombresyapellidoscompletos nombrecompletoyapellidos apellidosynombres sunombre tunombre
        nombredecontacto nombredelcontacto nombredelcliente nombrecliente personadecontacto cliente nome nomecompleto
        nomeesobrenome nomecognome nomcomplet
        """,
    "first_name": "firstname givenname fname primernombre primeironome prenom vorname",
    "last_name": """
        lastname familyname surname lname apellido apellidos apellidopaterno sobrenome cognome nachname nomdefamille
        """,
    "email": """
        email emailaddress mail youremail contactemail workemail businessemail emailcontacto correo correoelectronico
        tucorreo sucorreo tucorreoelectronico tuemail direcciondecorreo direcciondecorreoelectronico correodecontacto
        enderecodeemail seuemail adressemail adresseemail courriel emailadresse
        """,
    "phone": """
        phone phonenumber telephone mobile mobilephone cellphone contactphone yourphone tel telefono telefonomovil
        telefonocelular celular cel movil fono whatsapp wsp numerodecelular numerodetelefono numerodewhatsapp nrocelular
        celularwhatsapp telefonowhatsapp tutelefono sutelefono tucelular telefonodecontacto celulardecontacto
        telefonocelularowhatsapp telephonenumber mobilenumber cellphonenumber contactnumber whatsappnumber phonemobile
        telefone telefonecelular telefonewhatsapp seutelefone numerodetelefone telefon telefonnummer handynummer
        numerodetelephone cellulare workphone workphonenumber
        """,
    "company": """
        company companyname organization organisation businessname empresa compania organizacion negocio razonsocial
        nombredelaempresa nombredeempresa nomedaempresa razaosocial entreprise societe azienda unternehmen
        """,
    "document": """
        ruc dni document documento taxid numeroderuc numerodedni numerodedocumento nrodedocumento nroruc rucdni dniruc
        rucodni dnioruc documentodeidentidad
        """,
    "text": """
        message yourmessage comment comments enquiry inquiry details description notes mensaje tumensaje sumensaje
        comentario comentarios consulta consultas pregunta preguntas dudas detalle detalles descripcion notas
        observaciones solicitud
        requerimiento mensajeoconsulta escribetumensaje mensagem suamensagem comentarios observacoes nachricht messaggio
        votremessage
        """,
    "product": """
        product products productname service producto productos servicio servicios productodeinteres productointeres
        serviciodeinteres interes productname nombredelproducto produto servico produtodeinteresse
        """,
    "amount": "amount monto importe presupuesto budget orcamento",
    "currency": "currency moneda",
    "consent": """
        consent gdpr privacy privacypolicy consentimiento acepto aceptoterminos aceptolosterminos aceptacion
        politicadeprivacidad aceptolapoliticadeprivacidad terminosycondiciones
        """,
    "click_id": "gclid fbclid ctwaclid wbraid gbraid msclkid ttclid clickid",
}
FIELD_OF: Mapping[str, str] = {name: of for of, names in NAMES.items() for name in names.split()}

# A program's ids, times, tokens and addresses: no visitor wrote them, and they differ between two tries.
_TECHNICAL = """
    id uuid guid eventid submissionid responseid entryid requestid timestamp created createdat updatedat submittedat
    sentat receivedat datecreated submissiondate
    ip ipaddress remoteip useragent nonce wpnonce token csrf csrftoken csrfmiddlewaretoken authenticitytoken xsrftoken
    formbuildid captcha captcharesponse recaptcha recaptcharesponse recaptchatoken grecaptcharesponse hcaptcharesponse
    cfturnstileresponse honeypot
    """
NOT_AN_ANSWER = frozenset(_TECHNICAL.split())
# Worth reading beside an answer, but alone they make no lead.
_NOT_WRITTEN = """
    type object event eventtype locale language formid formname formtitle formslug formurl source pageurl pagetitle
    pagename siteurl sitename referrer referer landingpage
    """
NOT_WRITTEN = frozenset(_NOT_WRITTEN.split())

# A label with one of these may hold a phone, if its answer reads as one.
_PHONE_WORDS = """
    phone telephone telefono celular cel movil mobile whatsapp wsp fono telefone telefon cellulare portable
    """
PHONE_WORDS = frozenset(_PHONE_WORDS.split())
# A label with one of these may ask for consent, if its answer is a yes or a no; advertising is another matter.
_CONSENT_WORDS = """
    acepto aceptas acepta autorizo autorizas consiento consentimiento privacidad terminos consent agree accept privacy
    gdpr terms aceito concordo privacidade
    """
CONSENT_WORDS = frozenset(_CONSENT_WORDS.split())
_ADVERTISING_WORDS = """
    newsletter boletin promociones promocion publicidad ofertas novedades marketing promotions offers novidades
    """
ADVERTISING_WORDS = frozenset(_ADVERTISING_WORDS.split())
# An answer's first word that says something, after these.
BEFORE_YES = frozenset({"i", "yo", "he", "leido", "y", "have", "read", "and", "eu", "li", "e"})
_YES = """
    true on 1 yes y si sim oui ja ok checked accepted acepto aceptado autorizo consiento agree agreed accept consent
    aceito concordo
    """
YES = frozenset(_YES.split())
NO = frozenset({"false", "off", "0", "no", "n", "nao", "non", "nein", "unchecked"})
